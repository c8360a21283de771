"""Whatever deploy/ tells the server, the server understands; and what belongs together in it does."""

import tomllib
import unittest

import documents
import settings
from harness.programs import ROOT
from programs import DEPLOY

COMPOSE = DEPLOY / "docker" / "compose.yaml"
CLUSTER = DEPLOY / "docker" / "compose.cluster.yaml"
DEPLOYMENT = DEPLOY / "kubernetes" / "deployment.yaml"
SEVERAL = DEPLOY / "kubernetes-cluster" / "several.yaml"
UNIT = DEPLOY / "systemd" / "throng.service"
DOCKERFILE = DEPLOY / "docker" / "Dockerfile"
MEBIBYTE = 2**20
# Beyond the time over which connections are closed: for the last of them, and the process.
STOP_SECONDS_MIN = 5


class Settings(unittest.TestCase):
    def test_the_server_accepts_what_each_file_sets(self) -> None:
        image = image_variables()
        for place, variables in {
            "Dockerfile": image,
            "compose.yaml": image | compose_variables(),
            "compose.cluster.yaml": image | cluster_variables(),
            "deployment.yaml": image | pod_variables(container()),
            "several.yaml": image | pod_variables(container_of_several()),
            "throng.service": unit_variables(),
        }.items():
            self.assertTrue(variables, place)
            self.assertEqual(settings.complaints(variables), "", place)

    def test_the_server_refuses_a_variable_that_it_does_not_know(self) -> None:
        # Else the test above says nothing.
        self.assertIn("THRONG_NO_SUCH_THING", settings.complaints({"THRONG_NO_SUCH_THING": "1"}))

    def test_every_variable_that_is_only_spoken_of_exists(self) -> None:
        for path in settings.files_with_settings(DEPLOY):
            for name in settings.throng_variables(path.read_text()):
                with self.subTest(path=path.name, variable=name):
                    # Some value is wrong for every setting, and then the setting is named with what it wants.
                    self.assertNotIn("unknown environment variable", settings.complaints({name: "?"}))

    def test_the_budget_stands_a_sixteenth_below_each_limit_of_memory(self) -> None:
        pod = container()["resources"]
        compose = documents.one(COMPOSE)["services"]["throng"]
        for place, budget, limit_mebibytes in [
            ("compose.yaml", compose_variables(), int(compose["mem_limit"].removesuffix("m"))),
            ("deployment.yaml", pod_variables(container()), int(pod["limits"]["memory"].removesuffix("Mi"))),
            ("throng.service", unit_variables(), int(unit_values("MemoryMax")[0].removesuffix("M"))),
        ]:
            budget_bytes = settings.bytes_of(budget["THRONG_LIMITS_MEMORY_BUDGET"])
            self.assertEqual(limit_mebibytes * MEBIBYTE, budget_bytes * 17 // 16, place)

    def test_each_stop_waits_longer_than_the_server_drains(self) -> None:
        pod = documents.one(DEPLOYMENT)["spec"]["template"]["spec"]
        before = container()["lifecycle"]["preStop"]["sleep"]["seconds"]
        default = settings.default_of("spread", table="shutdown")
        compose = documents.one(COMPOSE)["services"]["throng"]
        for place, seconds, spread in [
            ("compose.yaml", settings.seconds_of(compose["stop_grace_period"]), compose_variables()),
            ("compose.cluster.yaml", settings.seconds_of(compose["stop_grace_period"]), cluster_variables()),
            ("deployment.yaml", pod["terminationGracePeriodSeconds"] - before, pod_variables(container())),
            ("throng.service", settings.seconds_of(unit_values("TimeoutStopSec")[0]), unit_variables()),
        ]:
            notice = settings.seconds_of(spread.get("THRONG_SHUTDOWN_NOTICE", "0s"))
            drain = notice + settings.seconds_of(spread.get("THRONG_SHUTDOWN_SPREAD", default))
            self.assertGreaterEqual(seconds, drain + STOP_SECONDS_MIN, place)

    def test_the_ports_of_image_pods_services_and_prometheus_are_the_same(self) -> None:
        image = image_variables()
        port, admin = (int(image[name].rpartition(":")[2]) for name in ("THRONG_LISTEN", "THRONG_ADMIN_LISTEN"))
        ports = {entry["name"]: entry["containerPort"] for entry in container()["ports"]}
        self.assertEqual(ports, {"http": port, "admin": admin})
        self.assertIn(f"EXPOSE {port} {admin}\n", DOCKERFILE.read_text())
        jobs = documents.one(DEPLOY / "prometheus" / "prometheus.yml")["scrape_configs"]
        (by_name,) = next(job for job in jobs if job["job_name"] == "throng")["dns_sd_configs"]
        self.assertEqual(by_name["port"], admin)
        headless = documents.all_of(DEPLOY / "kubernetes" / "service.yaml")[1]
        self.assertEqual((headless["spec"]["clusterIP"], headless["spec"]["ports"][0]["port"]), ("None", admin))
        aliases = documents.one(COMPOSE)["services"]["throng"]["networks"]["default"]["aliases"]
        self.assertEqual(by_name["names"], [headless["metadata"]["name"]])
        (exporter,) = next(job for job in jobs if job["job_name"] == "node")["dns_sd_configs"]
        self.assertEqual([*by_name["names"], *exporter["names"]], aliases)

    def test_node_exporter_sees_the_network_of_the_server(self) -> None:
        services = documents.one(COMPOSE)["services"]
        self.assertEqual(services["node-exporter"]["network_mode"], "service:throng")

    def test_the_administration_is_published_to_nobody(self) -> None:
        for port in documents.one(COMPOSE)["services"]["throng"]["ports"]:
            self.assertFalse(port.endswith(":4001"), port)
        public = documents.all_of(DEPLOY / "kubernetes" / "service.yaml")[0]
        self.assertEqual([port["targetPort"] for port in public["spec"]["ports"]], ["http"])

    def test_the_pod_is_of_this_version(self) -> None:
        manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
        self.assertEqual(container()["image"], f"throng:{manifest['workspace']['package']['version']}")


def image_variables() -> dict[str, str]:
    """Those of the image's last stage."""
    last = DOCKERFILE.read_text().rpartition("\nFROM ")[2].replace("\\\n", " ")
    words = next(line for line in last.splitlines() if line.startswith("ENV ")).split()[1:]
    return dict(word.split("=", 1) for word in words)


def compose_variables() -> dict[str, str]:
    """Those of the service."""
    return {name: str(value) for name, value in documents.one(COMPOSE)["services"]["throng"]["environment"].items()}


def cluster_variables() -> dict[str, str]:
    """Those of the second node."""
    service = documents.one(CLUSTER)["services"]["throng-2"]
    return {name: str(value) for name, value in service["environment"].items()}


def container() -> dict:
    """The Pod's only one."""
    (only,) = documents.one(DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    return only


def container_of_several() -> dict:
    """The same of several Pods."""
    deployment = documents.merged(documents.one(DEPLOYMENT), documents.one(SEVERAL))
    (only,) = deployment["spec"]["template"]["spec"]["containers"]
    return only


def pod_variables(container: dict) -> dict[str, str]:
    """Those of a Pod; what a Secret says is one that fits."""
    said = {"bus-url": "redis://somebody:pass@bus:6379", "store-url": "postgres://somebody:pass@store/throng"}
    value = lambda entry: entry.get("value") or said[entry["valueFrom"]["secretKeyRef"]["key"]]
    return {entry["name"]: value(entry) for entry in container["env"]}


def unit_values(name: str) -> list[str]:
    """Every value that the unit gives a name."""
    lines = [line.partition("=") for line in UNIT.read_text().splitlines() if not line.startswith("#")]
    return [value for key, _, value in lines if key == name]


def unit_variables() -> dict[str, str]:
    """Those of the unit that are ours."""
    pairs = dict(value.split("=", 1) for value in unit_values("Environment"))
    return {name: value for name, value in pairs.items() if name.startswith("THRONG_")}


if __name__ == "__main__":
    unittest.main()
