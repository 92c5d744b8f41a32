// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"encoding/json"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// chosenServiceFields are the fields of the spec of a Service that an API server sets where the user does not. Those of the user are copied.
var chosenServiceFields = []string{"ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"}

// stripService removes from a Service what the hub's API server has assigned and what no other API server accepts. The clusterIP None is the
// choice of the user; of other fields and ports the managedFields say whose choice they are, and without them they count as assigned.
func stripService(spec map[string]any, writers []metav1.ManagedFieldsEntry) {
	headless := spec["clusterIP"] == corev1.ClusterIPNone
	delete(spec, "clusterIP")
	delete(spec, "clusterIPs")
	if headless {
		spec["clusterIP"] = corev1.ClusterIPNone
	}
	chosen := chosenFields(writers)

	for _, name := range chosenServiceFields {
		if !chosen.spec[name] {
			delete(spec, name)
		}
	}

	ports, _ := spec["ports"].([]any)
	for _, port := range ports {
		if fields, ok := port.(map[string]any); ok && !chosen.nodePorts[portKey(fields)] {
			delete(fields, "nodePort")
		}
	}
	if !externallyAccessible(spec) {
		delete(spec, "externalTrafficPolicy")
	}
}

// externallyAccessible reports whether an API server accepts an externalTrafficPolicy.
func externallyAccessible(spec map[string]any) bool {
	addresses, _ := spec["externalIPs"].([]any)
	kind, _ := spec["type"].(string)
	return len(addresses) > 0 || slices.Contains([]corev1.ServiceType{corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer},
		corev1.ServiceType(kind))
}

// chosenByUsers are the fields of the spec of a Service, and the ports with a nodePort, that managedFields assign to writers.
type chosenByUsers struct {
	spec      map[string]bool
	nodePorts map[string]bool
}

// chosenFields returns what writers have chosen. An entry that cannot be decoded has chosen nothing: it would be one of a later API version.
func chosenFields(writers []metav1.ManagedFieldsEntry) chosenByUsers {
	chosen := chosenByUsers{spec: map[string]bool{}, nodePorts: map[string]bool{}}
	for _, writer := range writers {
		var fields struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if writer.Subresource != "" || writer.FieldsV1 == nil || json.Unmarshal(writer.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}

		for _, name := range chosenServiceFields {
			if _, found := fields.Spec["f:"+name]; found {
				chosen.spec[name] = true
			}
		}
		var ports map[string]map[string]json.RawMessage
		if json.Unmarshal(fields.Spec["f:ports"], &ports) != nil {
			continue
		}

		for key, port := range ports {
			if _, found := port["f:nodePort"]; found {
				chosen.nodePorts[managedPortKey(key)] = true
			}
		}
	}

	return chosen
}

// managedPortKey returns the portKey of a port in managedFields, which is named as in k:{"port":80,"protocol":"TCP"}.
func managedPortKey(key string) string {
	const prefix = "k:"
	var port map[string]any
	if len(key) < len(prefix) || json.Unmarshal([]byte(key[len(prefix):]), &port) != nil {
		return ""
	}
	return portKey(port)
}

// portKey returns a text that identifies a port of a Service, by the keys of its list.
func portKey(port map[string]any) string {
	protocol, _ := port["protocol"].(string)
	if protocol == "" {
		protocol = string(corev1.ProtocolTCP)
	}

	switch number := port["port"].(type) {
	case int64:
		return strconv.FormatInt(number, 10) + "/" + protocol
	case float64:
		return strconv.FormatInt(int64(number), 10) + "/" + protocol
	default:
		return "/" + protocol
	}
}
