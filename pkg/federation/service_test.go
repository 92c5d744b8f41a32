// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestServicesOfWriters checks what is copied of a Service by who has chosen it (docs/spec/trust.md section 3, Services).
func TestServicesOfWriters(t *testing.T) {
	const (
		allocated = `clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack`
		nodePorts = `{port: 80, protocol: TCP, nodePort: 30000}, {port: 80, protocol: UDP, nodePort: 30001}`
		chosenUDP = `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"UDP\"}":{".":{},"f:nodePort":{},"f:port":{}},` +
			`"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}`
	)

	for _, c := range []struct {
		reason, spec string
		// fields are those of the manager kubectl, and status those of a controller that writes the status.
		fields, status, want string
	}{
		{"addresses and families of the hub go", allocated, `{"f:spec":{"f:type":{}}}`, "", ""},
		{"without managedFields everything that may be assigned goes", allocated + `, type: NodePort, ports: [` + nodePorts + `]`, "", "",
			`type: NodePort, ports: [{port: 80, protocol: TCP}, {port: 80, protocol: UDP}]`},
		{"families that a writer has chosen stay", `clusterIP: 10.0.0.1, ipFamilies: [IPv6, IPv4], ipFamilyPolicy: RequireDualStack`,
			`{"f:spec":{"f:ipFamilies":{},"f:ipFamilyPolicy":{}}}`, "", `ipFamilies: [IPv6, IPv4], ipFamilyPolicy: RequireDualStack`},
		{"a policy alone may be chosen", allocated, `{"f:spec":{"f:ipFamilyPolicy":{}}}`, "", `ipFamilyPolicy: SingleStack`},
		{"a nodePort that a writer has chosen stays, and that of another protocol goes",
			`type: NodePort, ports: [` + nodePorts + `]`, chosenUDP, "",
			`type: NodePort, ports: [{port: 80, protocol: TCP}, {port: 80, protocol: UDP, nodePort: 30001}]`},
		{"a port without protocol is TCP", `type: NodePort, ports: [{port: 80, nodePort: 30000}]`,
			`{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:nodePort":{}}}}}`, "",
			`type: NodePort, ports: [{port: 80, nodePort: 30000}]`},
		{"a health check port that a writer has chosen stays", `type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 31000`,
			`{"f:spec":{"f:healthCheckNodePort":{}}}`, "", `type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 31000`},
		{"a health check port of the hub goes", `type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 31000`, `{}`, "",
			`type: LoadBalancer, externalTrafficPolicy: Local`},
		{"who writes the status chooses nothing", allocated, `{}`, `{"f:spec":{"f:ipFamilies":{}}}`, ""},
		{"external addresses stay, and the policy with them", `clusterIP: 10.0.0.1, externalIPs: [1.2.3.4], externalTrafficPolicy: Local`, `{}`, "",
			`externalIPs: [1.2.3.4], externalTrafficPolicy: Local`},
		{"members refuse the policy of a Service that is reached from inside alone", `type: ClusterIP, externalTrafficPolicy: Cluster`, `{}`, "",
			`type: ClusterIP`},
		{"a headless Service keeps the families that it asks for", `clusterIP: None, clusterIPs: [None], ipFamilies: [IPv6]`,
			`{"f:spec":{"f:clusterIP":{},"f:ipFamilies":{}}}`, "", `clusterIP: None, ipFamilies: [IPv6]`},
		{"an entry that cannot be decoded has chosen nothing", allocated, `{"f:spec":[]}`, "", ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			head := `{apiVersion: v1, kind: Service, metadata: {name: x, namespace: ns`
			var entries []string
			if c.fields != "" {
				entries = append(entries, `{manager: kubectl, operation: Update, fieldsV1: `+c.fields+`}`)
			}
			if c.status != "" {
				entries = append(entries, `{manager: cloud, operation: Update, subresource: status, fieldsV1: `+c.status+`}`)
			}

			managed := ""
			if len(entries) > 0 {
				managed = `, managedFields: [` + strings.Join(entries, ", ") + `]`
			}
			object := objectOf(t, head+managed+`}, spec: {`+c.spec+`}}`)
			want := objectOf(t, head+`}, spec: {`+c.want+`}}`)
			if diff := cmp.Diff(want.Object, NewPayload(kindOf(kindService), object).content); diff != "" {
				t.Error(diff)
			}
		})
	}
}
