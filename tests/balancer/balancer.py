"""A load balancer whose configuration is the one in deploy/.

Everything is on 127.0.0.0/8. The servers have addresses of their own and ports in common, as machines do."""

from pathlib import Path

from harness.programs import HOST, ROOT, Process, find, free_port
from harness.server import Server

DEPLOY = ROOT / "deploy"
SERVERS = ("127.0.0.11", "127.0.0.12")


class Balancer:
    """HAProxy or nginx with a configuration of deploy/, its addresses replaced."""

    def __init__(self, folder: Path, configuration: Path, servers: list[Server]):
        self.port = free_port(HOST)
        folder.mkdir(parents=True)
        text = (DEPLOY / configuration).read_text()
        self.program = "haproxy" if configuration.suffix == ".cfg" else "nginx"
        path = folder / configuration.name
        path.write_text(self._with_addresses(text, servers, folder))
        self.process = Process(self._command(path, folder), folder / f"{self.program}.log")
        self.process.wait_until_it_listens(self.port)

    def _with_addresses(self, text: str, servers: list[Server], folder: Path) -> str:
        replaced = {
            "10.0.0.11:4000": f"{servers[0].address}:{servers[0].port}",
            "10.0.0.12:4000": f"{servers[1].address}:{servers[1].port}",
        }
        if self.program == "haproxy":
            replaced["bind :80"] = f"bind {HOST}:{self.port}"
            replaced["port 4001"] = f"port {servers[0].admin_port}"
            replaced["maxconn 100000"] = "maxconn 1000"
        else:
            replaced["listen 80;"] = f"listen {HOST}:{self.port};"
            replaced["worker_rlimit_nofile 200000;"] = f"pid {folder}/nginx.pid;"
            replaced["worker_connections 100000;"] = "worker_connections 400;"
            kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            own = "".join(f"    {kind}_temp_path {folder}/{kind};\n" for kind in kinds)
            replaced["http {\n"] = f"http {{\n{own}"
        for shipped, here in replaced.items():
            if shipped not in text:
                raise AssertionError(f"the shipped configuration has no {shipped!r}")
            text = text.replace(shipped, here)
        return text

    def _command(self, path: Path, folder: Path) -> list:
        if self.program == "haproxy":
            return [find("haproxy"), "-db", "-f", path]
        return [find("nginx"), "-p", folder, "-e", "stderr", "-c", path, "-g", "daemon off;"]
