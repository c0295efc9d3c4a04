/// The error of a connection that closed before any byte of the response, although other responses came over it, or that didn't take the
/// request.
///
/// The server didn't refuse the request: it closed the connection at the moment when it was used again, as it may do at any time (RFC 9112,
/// section 9.3.1, and RFC 9113, sections 6.8 and 8.7). So the request can be sent again.
struct BrokenConnection: Error {
    let underlying: (any Error)?
}

/// The error of a server that wants another connection, with HTTP/1.1 (`HTTP_1_1_REQUIRED`, RFC 9113, section 7).
struct HTTP1Required: Error {}
