# The servers of scripts/interop, which sources this: how each is installed, configured, started, and loaded anew. All listen on 127.0.0.1.
# `move_to` lets the redirect of the server in `origin` lead to another image.

# The program of a server, and Debian's packages of it.
program() {
    case "$1" in
        apache) echo apache2 ;;
        varnish) echo varnishd ;;
        *) echo "$1" ;;
    esac
}
has() { [ -x "/usr/sbin/$(program "$1")" ]; }
packages() {
    case "$1" in
        nginx) echo nginx-light ;;
        apache) echo apache2-bin ;;
        lighttpd) echo lighttpd lighttpd-mod-openssl lighttpd-mod-deflate ;;
        nghttpx) echo nghttp2-proxy ;;
        *) echo "$1" ;;
    esac
}

# The ports: HTTP, and HTTPS with HTTP/2.
port_of() {
    case "$1" in
        nginx) echo 19100 ;;
        apache) echo 19110 ;;
        lighttpd) echo 19120 ;;
        haproxy) echo 19130 ;;
        varnish) echo 19140 ;;
        nghttpx) echo 19150 ;;
        squid) echo 19160 ;;
    esac
}
secure_port_of() { echo $(($(port_of "$1") + 1)); }

# Starts a program in the background, whose end is that of the script.
launch() {
    "$@" >"$folder/log/$server.out" 2>&1 &
    pids+=($!)
    last=$!
}

move_to() {
    echo "$1" >"$folder/target"
    "configure_$origin"
    "reload_$origin"
    # A graceful server needs a moment until the new workers have the port to themselves.
    for _ in $(seq 50); do
        local seen=0
        for _ in 1 2 3 4 5; do
            curl --silent --noproxy '*' -o /dev/null -w '%{redirect_url}' "http://localhost:$(port_of "$origin")/latest.bmp" | grep -q "/$1.bmp" && seen=$((seen + 1))
        done
        [ $seen = 5 ] && return 0
        sleep 0.1
    done
    echo "$origin doesn't redirect to $1" >&2
    return 1
}

# The three rows of a server that speaks everything.
rows_of_all() {
    local port secure
    port="$(port_of "$1")" secure="$(secure_port_of "$1")"
    row "$1" "$1" "http://localhost:$port" http1
    row "$1" "$1, TLS" "https://localhost:$secure" http1
    row "$1" "$1, HTTP/2" "https://localhost:$secure" http2
}

# --- nginx

configure_nginx() {
    cat >"$folder/nginx.conf" <<END
pid $folder/nginx.pid;
daemon off;
error_log $folder/log/nginx.log;
worker_processes 2;
events { worker_connections 1024; }
http {
    access_log off;
    types { image/bmp bmp; image/svg+xml svg; }
    gzip on;
    gzip_types image/svg+xml;
    server {
        listen 127.0.0.1:$(port_of nginx);
        listen 127.0.0.1:$(secure_port_of nginx) ssl http2;
        ssl_certificate $folder/certificate.pem;
        ssl_certificate_key $folder/key.pem;
        absolute_redirect off;
        root $folder/www;
        location = /latest.bmp { return 302 /$(cat "$folder/target" 2>/dev/null || echo one).bmp; }
    }
}
END
}
start_nginx() {
    configure_nginx
    launch nginx -c "$folder/nginx.conf" -e "$folder/log/nginx.log"
    nginx_pid=$last
    await_port "$(secure_port_of nginx)"
}
reload_nginx() { kill -HUP "$nginx_pid"; }
rows_nginx() { rows_of_all nginx; }

# --- Apache

configure_apache() {
    local modules=/usr/lib/apache2/modules module
    {
        for module in mpm_event authz_core mime deflate filter alias ssl http2 unixd brotli; do
            [ -e "$modules/mod_$module.so" ] && echo "LoadModule ${module}_module $modules/mod_$module.so"
        done
        cat <<END
ServerName localhost
PidFile $folder/apache.pid
ErrorLog $folder/log/apache.log
Mutex file:$folder/log
Listen 127.0.0.1:$(port_of apache)
Listen 127.0.0.1:$(secure_port_of apache)
User www-data
Group www-data
TypesConfig /dev/null
AddType image/bmp .bmp
AddType image/svg+xml .svg
DocumentRoot $folder/www
Protocols h2 http/1.1
Redirect 302 /latest.bmp /$(cat "$folder/target" 2>/dev/null || echo one).bmp
AddOutputFilterByType BROTLI_COMPRESS;DEFLATE image/svg+xml
<Directory $folder/www>
    Require all granted
</Directory>
<VirtualHost 127.0.0.1:$(secure_port_of apache)>
    SSLEngine on
    SSLCertificateFile $folder/certificate.pem
    SSLCertificateKeyFile $folder/key.pem
</VirtualHost>
END
    } >"$folder/apache.conf"
}
start_apache() {
    configure_apache
    launch apache2 -f "$folder/apache.conf" -DFOREGROUND
    apache_pid=$last
    await_port "$(secure_port_of apache)"
}
reload_apache() { kill -USR1 "$apache_pid"; }
rows_apache() { rows_of_all apache; }

# --- lighttpd

configure_lighttpd() {
    cat >"$folder/lighttpd.conf" <<END
server.modules = ( "mod_redirect", "mod_openssl", "mod_deflate" )
server.document-root = "$folder/www"
server.bind = "127.0.0.1"
server.port = $(port_of lighttpd)
server.errorlog = "$folder/log/lighttpd.log"
server.pid-file = "$folder/lighttpd.pid"
server.feature-flags = ( "server.graceful-shutdown-timeout" => 5 )
mimetype.assign = ( ".bmp" => "image/bmp", ".svg" => "image/svg+xml" )
deflate.mimetypes = ( "image/svg+xml" )
deflate.allowed-encodings = ( "br", "gzip" )
url.redirect = ( "^/latest\.bmp" => "/$(cat "$folder/target" 2>/dev/null || echo one).bmp" )
url.redirect-code = 302
\$SERVER["socket"] == "127.0.0.1:$(secure_port_of lighttpd)" {
    ssl.engine = "enable"
    ssl.pemfile = "$folder/both.pem"
}
END
}
start_lighttpd() {
    configure_lighttpd
    launch lighttpd -D -f "$folder/lighttpd.conf"
    lighttpd_pid=$last
    await_port "$(secure_port_of lighttpd)"
}
reload_lighttpd() { kill -USR1 "$lighttpd_pid"; }
rows_lighttpd() { rows_of_all lighttpd; }

# --- HAProxy

start_haproxy() {
    cat >"$folder/haproxy.cfg" <<END
global
    log stderr local0 alert
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    compression algo gzip
    compression type image/svg+xml
frontend all
    bind 127.0.0.1:$(port_of haproxy)
    bind 127.0.0.1:$(secure_port_of haproxy) ssl crt $folder/both.pem alpn h2,http/1.1
    default_backend origin
backend origin
    server one 127.0.0.1:$(port_of "$origin")
END
    launch haproxy -W -f "$folder/haproxy.cfg"
    haproxy_pid=$last
    await_port "$(secure_port_of haproxy)"
}
reload_haproxy() { kill -USR2 "$haproxy_pid"; }
rows_haproxy() { rows_of_all haproxy; }

# --- Varnish, which has no TLS

start_varnish() {
    # The redirect changes, and may not be kept.
    cat >"$folder/varnish.vcl" <<END
vcl 4.1;
backend origin { .host = "127.0.0.1"; .port = "$(port_of "$origin")"; }
sub vcl_backend_response { if (beresp.status >= 300) { set beresp.uncacheable = true; } }
END
    launch varnishd -F -j none -a "127.0.0.1:$(port_of varnish)" -f "$folder/varnish.vcl" -n "$folder/varnish" -s malloc,64m
    await_port "$(port_of varnish)"
}
varnish_loads=0
reload_varnish() {
    varnish_loads=$((varnish_loads + 1))
    varnishadm -n "$folder/varnish" vcl.load "v$varnish_loads" "$folder/varnish.vcl" && varnishadm -n "$folder/varnish" vcl.use "v$varnish_loads"
}
rows_varnish() { row varnish varnish "http://localhost:$(port_of varnish)" http1; }

# --- nghttpx

start_nghttpx() {
    cat >"$folder/nghttpx.conf" <<END
frontend=127.0.0.1,$(port_of nghttpx);no-tls
frontend=127.0.0.1,$(secure_port_of nghttpx)
backend=127.0.0.1,$(port_of "$origin")
private-key-file=$folder/key.pem
certificate-file=$folder/certificate.pem
errorlog-file=$folder/log/nghttpx.log
accesslog-file=/dev/null
workers=2
END
    launch nghttpx --conf="$folder/nghttpx.conf"
    nghttpx_pid=$last
    await_port "$(secure_port_of nghttpx)"
}
reload_nghttpx() { kill -HUP "$nghttpx_pid"; }
rows_nghttpx() { rows_of_all nghttpx; }

# --- Squid, a proxy that makes tunnels

start_squid() {
    mkdir -p "$folder/squid"
    chmod 777 "$folder/squid"
    cat >"$folder/squid.conf" <<END
http_port 127.0.0.1:$(port_of squid)
http_access allow all
cache deny all
access_log none
cache_log $folder/squid/cache.log
pid_filename $folder/squid/pid
coredump_dir $folder/squid
shutdown_lifetime 1 seconds
dns_v4_first on
END
    launch squid -N -f "$folder/squid.conf"
    await_port "$(port_of squid)"
}
reload_squid() { squid -k reconfigure -f "$folder/squid.conf"; }
rows_squid() {
    local proxy
    proxy="proxy=http://127.0.0.1:$(port_of squid)"
    row squid "squid to $origin" "http://localhost:$(port_of "$origin")" http1 "$proxy"
    row squid "squid, TLS" "https://localhost:$(secure_port_of "$origin")" http1 "$proxy"
    row squid "squid, HTTP/2" "https://localhost:$(secure_port_of "$origin")" http2 "$proxy"
}
