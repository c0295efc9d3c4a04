#if HTTP
internal import AsyncHTTPClient
#endif
enum Placeholder {}
