"""Compose and Kubernetes: by their validators, and what can be seen by reading."""

import json
import tempfile
import unittest

import documents
from harness.programs import find
from programs import DEPLOY, checkers, run

COMPOSE = DEPLOY / "docker" / "compose.yaml"
CLUSTER = DEPLOY / "docker" / "compose.cluster.yaml"
BALANCER = DEPLOY / "docker" / "haproxy.cfg"
SHIPPED_BALANCER = DEPLOY / "haproxy" / "round-robin.cfg"
KUBERNETES = DEPLOY / "kubernetes"
KUBERNETES_CLUSTER = DEPLOY / "kubernetes-cluster"
# Of a kind that Kubernetes itself does not have, and that only who has the operator applies.
OF_AN_OPERATOR = {"servicemonitor.yaml"}


class Manifests(unittest.TestCase):
    def test_the_compositions_are_as_their_specification_says(self) -> None:
        for path in (COMPOSE, CLUSTER):
            with self.subTest(composition=path.name):
                checker = checkers() / "check-jsonschema"
                status, said = run(checker, "--builtin-schema", "vendor.compose-spec", path)
                self.assertEqual(status, 0, said)

    def test_every_service_of_the_composition_has_limits_and_files_that_are_there(self) -> None:
        one, cluster = documents.one(COMPOSE), documents.one(CLUSTER)
        # The cluster's adds to the first node, which has its limits.
        services = {**cluster["services"], **one["services"]}
        volumes = {**one["volumes"], **cluster["volumes"]}
        for name, service in services.items():
            with self.subTest(service=name):
                self.assertGreater(service["cpus"], 0)
                self.assertRegex(service["mem_limit"], r"^\d+m$")
                for volume in service.get("volumes", []):
                    self.assert_source_is_there(volume.split(":")[0], volumes)

    def test_both_nodes_of_the_cluster_are_alike(self) -> None:
        one, cluster = documents.one(COMPOSE)["services"]["throng"], documents.one(CLUSTER)["services"]
        first, second = {**one, **cluster["throng"]}, cluster["throng-2"]
        first["environment"] = {**one["environment"], **cluster["throng"]["environment"]}
        own = {"build", "ports", "networks", "volumes"}
        self.assertEqual(*({key: node[key] for key in node.keys() - own} for node in (first, second)))
        # What watches the machine is in the network of the first.
        aliases = [*second["networks"]["default"]["aliases"], "node-exporter"]
        self.assertEqual(aliases, one["networks"]["default"]["aliases"])
        for name in ("THRONG_BUS_URL", "THRONG_BUS_LISTEN"):
            self.assertIn(name, second["environment"])

    def test_the_balancer_of_the_cluster_is_the_shipped_one_with_the_addresses_of_its_nodes(self) -> None:
        services = documents.one(CLUSTER)["services"]
        placed = {name: service for name, service in services.items() if "networks" in service}
        address = {name: service["networks"]["default"]["ipv4_address"] for name, service in placed.items()}
        expected = SHIPPED_BALANCER.read_text().partition("\nglobal")[2]
        for shipped, here in {
            "10.0.0.11": address["throng"],
            "10.0.0.12": address["throng-2"],
            "maxconn 100000": "maxconn 10000",
        }.items():
            self.assertIn(shipped, expected)
            expected = expected.replace(shipped, here)
        self.assertEqual(BALANCER.read_text().partition("\nglobal")[2], expected)
        for node in ("throng", "throng-2"):
            self.assertEqual(services[node]["environment"]["THRONG_TRUSTED_PROXIES"], address["balancer"])

    def test_haproxy_reads_the_balancer_of_the_cluster(self) -> None:
        status, said = run(find("haproxy"), "-c", "-f", BALANCER)
        self.assertEqual(status, 0, said)

    def assert_source_is_there(self, source: str, volumes: dict) -> None:
        if source.startswith("."):
            self.assertTrue((COMPOSE.parent / source).exists(), source)
        elif not source.startswith("/"):
            self.assertIn(source, volumes)

    def test_every_object_is_of_a_form_that_kubernetes_knows(self) -> None:
        for path in manifests():
            if path.name not in OF_AN_OPERATOR:
                status, said = run(checkers() / "kubernetes-validate", "--strict", path)
                self.assertEqual(status, 0, said)
                self.assertIn(f"INFO {path} passed", said)

    def test_the_kustomization_has_every_manifest_that_needs_no_operator(self) -> None:
        listed = documents.one(KUBERNETES / "kustomization.yaml")["resources"]
        self.assertEqual(set(listed), {path.name for path in manifests()} - OF_AN_OPERATOR)

    def test_every_selector_finds_the_labels_that_it_means(self) -> None:
        pod = self.document("Deployment")["spec"]["template"]["metadata"]["labels"]
        selectors = [
            self.document("Deployment")["spec"]["selector"]["matchLabels"],
            self.document("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
            *[service["spec"]["selector"] for service in of_kind("Service")],
        ]
        for selector in selectors:
            self.assertLessEqual(selector.items(), pod.items())
        monitor = self.document("ServiceMonitor")["spec"]
        watched = [
            service
            for service in of_kind("Service")
            if monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
        ]
        self.assertEqual([service["metadata"]["name"] for service in watched], ["throng-admin"])
        ports = {port["name"] for port in watched[0]["spec"]["ports"]}
        self.assertEqual({endpoint["port"] for endpoint in monitor["endpoints"]}, ports)

    def test_the_pod_is_nobody_has_limits_and_probes_ports_that_it_has(self) -> None:
        pod = self.document("Deployment")["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        ports = {port["name"] for port in container["ports"]}
        for probe in ("livenessProbe", "readinessProbe"):
            self.assertIn(container[probe]["httpGet"]["port"], ports)
        self.assertTrue(pod["securityContext"]["runAsNonRoot"])
        self.assertEqual(set(container["resources"]["limits"]), {"cpu", "memory"})
        volumes = {volume["name"] for volume in pod["volumes"]}
        self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)

    def test_the_budget_of_disruptions_lets_a_node_be_emptied(self) -> None:
        replicas = self.document("Deployment")["spec"]["replicas"]
        allowed = self.document("PodDisruptionBudget")["spec"]["maxUnavailable"]
        self.assertTrue(1 <= allowed <= replicas)

    def test_several_pods_follow_each_other_and_share_what_they_must(self) -> None:
        kustomization = documents.one(KUBERNETES_CLUSTER / "kustomization.yaml")
        self.assertEqual(kustomization["resources"], ["../kubernetes"])
        (patch,) = (documents.one(KUBERNETES_CLUSTER / each["path"]) for each in kustomization["patches"])
        deployment = documents.merged(self.document("Deployment"), patch)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(deployment, file)
            file.flush()
            status, said = run(checkers() / "kubernetes-validate", "--strict", file.name)
        self.assertEqual(status, 0, said)
        self.assertGreater(deployment["spec"]["replicas"], 1)
        self.assertEqual(deployment["spec"]["strategy"]["type"], "RollingUpdate")
        pod = deployment["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        self.assertLessEqual(self.document("Deployment").keys(), deployment.keys())
        self.assertLess({"http", "admin"}, {port["name"] for port in container["ports"]})
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        for each in (*pod["initContainers"], *pod["containers"]):
            self.assertLessEqual({mount["name"] for mount in each["volumeMounts"]}, volumes.keys())
        # What docs/operations.md has the Secret made of.
        (secret,) = (volume["secret"] for volume in volumes.values() if "secret" in volume)
        keys = {item["key"] for item in secret["items"]}
        refs = [entry["valueFrom"]["secretKeyRef"] for entry in container["env"] if "valueFrom" in entry]
        self.assertEqual({ref["name"] for ref in refs}, {secret["secretName"]})
        keys |= {ref["key"] for ref in refs}
        for text in (KUBERNETES_CLUSTER / "kustomization.yaml", DEPLOY.parent / "docs" / "operations.md"):
            for key in keys:
                self.assertRegex(text.read_text(), f"--from-(literal|file)={key}=")

    def document(self, kind: str) -> dict:
        (only,) = of_kind(kind)
        return only


def manifests() -> list:
    """Every file but the kustomization."""
    return [path for path in sorted(KUBERNETES.glob("*.yaml")) if path.name != "kustomization.yaml"]


def of_kind(kind: str) -> list[dict]:
    """All documents of a kind."""
    return [document for path in manifests() for document in documents.all_of(path) if document["kind"] == kind]


if __name__ == "__main__":
    unittest.main()
