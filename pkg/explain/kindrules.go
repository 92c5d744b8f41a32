// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"encoding/base64"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// admitForPods returns what admission says of a policy, class or Tenant.
func admitForPods(among *State, live, object api.Object) (field.ErrorList, []string) {
	return pods.Admit(&among.Pods, live, object)
}

// equalNamespaces reports whether policies and classes read the same of two states of a Namespace.
func equalNamespaces(live, object api.Object) bool {
	one, isOne := live.(*corev1.Namespace)
	other, isOther := object.(*corev1.Namespace)
	return isOne && isOther && pods.ReadsSame(one, other)
}

// preserveProfiles returns a ClusterProvider with the status of the live one if it publishes no profile, because its own process writes that.
func preserveProfiles(live, object api.Object) api.Object {
	one, isOne := live.(*openmcpv1alpha1.ClusterProvider)
	other, isOther := object.(*openmcpv1alpha1.ClusterProvider)
	if !isOne || !isOther || len(other.Status.Profiles) > 0 {
		return object
	}
	other = other.DeepCopy()
	other.Status = one.Status
	return other
}

// EncodeStringData moves the stringData of a Secret to its data, as the API server does.
func EncodeStringData(object *unstructured.Unstructured) {
	texts, found, err := unstructured.NestedStringMap(object.Object, "stringData")
	if object.GetKind() != "Secret" || !found || err != nil {
		return
	}
	data, isMap := object.Object["data"].(map[string]any)
	if !isMap {
		data = map[string]any{}
	}

	for key, text := range texts {
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	object.Object["data"] = data
	delete(object.Object, "stringData")
}

// checkRules reports rules that grant nothing.
func checkRules(object map[string]any) []Finding {
	var findings []Finding
	for i, rule := range objectsOf(object["rules"]) {
		if verbs, _ := rule["verbs"].([]any); len(verbs) == 0 {
			findings = append(findings, Finding{fmt.Sprintf("rules[%d].verbs", i), "is required: a rule without verbs grants nothing"})
		}
	}
	return findings
}

// checkGrant reports errors that would make a ClusterRoleBinding ineffective or misleading.
func checkGrant(object map[string]any) []Finding {
	var findings []Finding
	ref, _ := object["roleRef"].(map[string]any)
	if textOf(ref, "name") == "" {
		findings = append(findings, Finding{"roleRef.name", "is required: name the ClusterRole"})
	} else if textOf(ref, "kind") != "ClusterRole" {
		findings = append(findings, Finding{"roleRef.kind", "must be ClusterRole: a ClusterRoleBinding can refer to nothing else"})
	}
	for i, subject := range objectsOf(object["subjects"]) {
		findings = append(findings, checkSubject(fmt.Sprintf("subjects[%d].", i), subject)...)
	}
	return findings
}

func checkSubject(path string, subject map[string]any) []Finding {
	kind, group := textOf(subject, "kind"), textOf(subject, "apiGroup")
	isAccount := kind == rbacv1.ServiceAccountKind
	switch {
	case !isAccount && kind != rbacv1.UserKind && kind != rbacv1.GroupKind:
		return []Finding{{path + "kind", "must be ServiceAccount, User or Group"}}
	case textOf(subject, "name") == "":
		return []Finding{{path + "name", "is required: name the " + kind}}
	case isAccount && textOf(subject, "namespace") == "":
		return []Finding{{path + "namespace", "is required: say which namespace the ServiceAccount lives in"}}
	case isAccount && group != "":
		return []Finding{{path + "apiGroup", "must be left out: a ServiceAccount is in the core group"}}
	case !isAccount && group != "" && group != rbacv1.GroupName:
		return []Finding{{path + "apiGroup", "must be " + rbacv1.GroupName}}
	default:
		return nil
	}
}

// objectsOf returns the elements of a list, with nil for those that are no objects, which decoding reports.
func objectsOf(list any) []map[string]any {
	items, _ := list.([]any)
	objects := make([]map[string]any, len(items))
	for i, item := range items {
		objects[i], _ = item.(map[string]any)
	}
	return objects
}

// pathSegment is the rule for RBAC names, which may have colons.
func pathSegment(name string, _ bool) []string {
	return content.IsPathSegmentName(name)
}

// textOf returns a string field; empty when it is missing or no string.
func textOf(object map[string]any, key string) string {
	value, _ := object[key].(string)
	return value
}
