// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// BenchmarkReview measures the hub's own work for one review, from the body of the request to that of the response: a Deployment of
// ordinary size, which three of 1,000 policies in 500 namespaces match, is created, or updated with the whole old object. The time that counts
// is cpu-ns/op: that of the CPU in user mode, which other processes of the machine do not change.
func BenchmarkReview(b *testing.B) {
	const (
		affinity = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: " +
			"[{matchExpressions: [{key: %s, operator: In, values: [a, b]}]}]}}}"
		container = "{name: c, image: registry.example.com/etcd:v3, env: [{name: A, value: b}, {name: C, value: d}], resources: {requests: " +
			"{cpu: 100m, memory: 1Gi}}, volumeMounts: [{name: data, mountPath: /var/lib/etcd}], terminationMessagePath: /dev/termination-log, " +
			"livenessProbe: {httpGet: {path: /health, port: 2379, scheme: HTTP}, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3}}"
	)

	nowhere := clusterPolicy(b, "nowhere", "nodeName: n1")
	nowhere.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "b"}}
	policies := []client.Object{
		clusterPolicy(b, "all", fmt.Sprintf(affinity, "pool")+"\ntolerations: [{key: pool, operator: Exists}]"), nowhere,
		policyIn(b, "team-a", "a", "nodeSelector: {disk-a: ssd}\n"+fmt.Sprintf(affinity, "zone-a")),
		policyIn(b, "team-a", "b", "nodeSelector: {disk-b: ssd}\n"+fmt.Sprintf(affinity, "zone-b")),
	}

	for i := range 498 {
		for _, name := range []string{"a", "b"} {
			policies = append(policies, policyIn(b, fmt.Sprintf("team-%d", i), name, "nodeSelector: {disk: ssd}\n"+fmt.Sprintf(affinity, "zone")))
		}
	}
	handler, _ := mutating(cached(b, policies...))

	hook, err := admission.StandaloneWebhook(&admission.Webhook{Handler: handler},
		admission.StandaloneOptions{Logger: klog.Background(), MetricsPath: MutatePath})
	if err != nil {
		b.Fatal(err)
	}
	create := creation(b, deployments, template("{schedulerName: default-scheduler, "+fmt.Sprintf(affinity, "arch")+
		", containers: ["+strings.Repeat(container+", ", 4)+"]}"))
	update := create.DeepCopy()
	update.Operation, update.OldObject = admissionv1.Update, create.Object
	for name, request := range map[string]*admissionv1.AdmissionRequest{"create": create, "update": update} {
		body := reviewOf(b, request)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			sent := httptest.NewRequestWithContext(b.Context(), http.MethodPost, MutatePath, nil)
			sent.Header.Set("Content-Type", "application/json")
			before := userTime(b)

			for b.Loop() {
				sent.Body = io.NopCloser(bytes.NewReader(body))
				recorder := httptest.NewRecorder()
				hook.ServeHTTP(recorder, sent)
				if !bytes.Contains(recorder.Body.Bytes(), []byte(`"patch"`)) {
					b.Fatal(recorder.Body)
				}
			}
			b.ReportMetric(float64(userTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// userTime returns how long the process has used CPUs in user mode, in nanoseconds.
func userTime(b *testing.B) int64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano()
}
