// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const needy = `
kind: Deployment
spec:
  template:
    spec:
      serviceAccountName: runner
      imagePullSecrets: [{name: registry}]
      initContainers:
      - name: i
        envFrom: [{secretRef: {name: init}}, {configMapRef: {name: maybe, optional: true}}]
      containers:
      - name: c
        envFrom: [{configMapRef: {name: settings}}]
        env:
        - {name: A, value: a}
        - {name: B, valueFrom: {secretKeyRef: {name: password, key: k}}}
        - {name: C, valueFrom: {configMapKeyRef: {name: settings, key: k}}}
      volumes:
      - {name: a, secret: {secretName: files}}
      - {name: b, configMap: {name: kube-root-ca.crt}}
      - {name: c, projected: {sources: [{configMap: {name: projected}}, {secret: {name: projected, optional: true}}]}}
      - {name: d, csi: {driver: x, nodePublishSecretRef: {name: storage}}}
      - {name: e, azureFile: {secretName: v-azure, shareName: x}}
      - {name: f, flexVolume: {driver: x, secretRef: {name: v-flex}}}
      - {name: g, cephfs: {monitors: [x], secretRef: {name: v-ceph}}}
      - {name: h, rbd: {monitors: [x], image: x, secretRef: {name: v-rbd}}}
      - {name: i, iscsi: {targetPortal: x, iqn: x, lun: 0, secretRef: {name: v-iscsi}}}
      - {name: j, cinder: {volumeID: x, secretRef: {name: v-cinder}}}
      - {name: k, scaleIO: {gateway: x, system: x, secretRef: {name: v-scale}}}
      - {name: l, storageos: {volumeName: x, secretRef: {name: v-storage}}}
      - {name: m, rbd: {monitors: [x], image: x}}
`

func TestDependencies(t *testing.T) {
	for _, c := range []struct {
		name, object string
		want         []Dependency
	}{
		{"federated-selector 3.2: every reference of a pod template", needy, []Dependency{
			{"ConfigMap", "projected"}, {"ConfigMap", "settings"},
			{"Secret", "files"}, {"Secret", "init"}, {"Secret", "password"}, {"Secret", "registry"}, {"Secret", "storage"},
			{"Secret", "v-azure"}, {"Secret", "v-ceph"}, {"Secret", "v-cinder"}, {"Secret", "v-flex"}, {"Secret", "v-iscsi"},
			{"Secret", "v-rbd"}, {"Secret", "v-scale"}, {"Secret", "v-storage"},
			{"ServiceAccount", "runner"},
		}},
		{"federated-selector 3.2: the ServiceAccount default", `{spec: {template: {spec: {serviceAccountName: default}}}}`, []Dependency{}},
		{"federated-selector 3.2: no pod template", `{spec: {template: x}}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Dependencies(objectOf(t, c.object))
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v, %s", err, diff)
			}
		})
	}

	if _, err := Dependencies(objectOf(t, `{spec: {template: {spec: {volumes: 1}}}}`)); err == nil {
		t.Error("a pod template that cannot be decoded is no error")
	}
}

func TestMissingDependencies(t *testing.T) {
	t.Run("federated-selector F33: a ConfigMap that does not reach us1", func(t *testing.T) {
		reached := map[Dependency][]string{{"ConfigMap", "x"}: {"eu1", "eu2"}, {"Secret", "y"}: {"us1", "eu1"}}
		got := MissingDependencies([]string{"us1", "eu1"}, []Dependency{{"ConfigMap", "x"}, {"Secret", "y"}, {"Secret", "z"}},
			func(d Dependency) []string { return reached[d] })
		want := []MissingDependency{
			{Dependency{"ConfigMap", "x"}, []string{"us1"}}, {Dependency{"Secret", "z"}, []string{"eu1", "us1"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("federated-selector 3.2: ConfigMaps and Secrets are propagated", func(t *testing.T) {
		for kind, want := range map[string]bool{
			"ConfigMap": true, "Secret": true, "ServiceAccount": false, "ConfigMap.example.com": false, "Secret.example.com": false,
		} {
			if CanBePropagated(kind) != want {
				t.Errorf("CanBePropagated of %s is not %v", kind, want)
			}
		}
	})
	t.Run("federated-selector 3.2: propagation", func(t *testing.T) {
		on, off := map[string]string{PropagateDependenciesAnnotation: "true"}, map[string]string{PropagateDependenciesAnnotation: "false"}
		if !Propagates(on, off) || !Propagates(nil, on) || Propagates(off, on) || Propagates(nil, nil) {
			t.Error("the annotation of the workload counts, then that of the Namespace")
		}
	})
}
