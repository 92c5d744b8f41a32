package statefile

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// builtins are the kinds of a State without a CustomResourceDefinition: the RBAC objects that allow to bind sets.
var builtins = map[schema.GroupVersionKind]admitter{
	rbacv1.SchemeGroupVersion.WithKind("ClusterRole"): &builtin{
		metadataRules: metadataRules{kind: "ClusterRole", nameRule: pathSegment}, check: checkRules,
	},
	rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"): &builtin{
		metadataRules: metadataRules{kind: "ClusterRoleBinding", nameRule: pathSegment}, check: checkGrant,
	},
	corev1.SchemeGroupVersion.WithKind("ServiceAccount"): &builtin{metadataRules: metadataRules{
		kind: "ServiceAccount", namespaced: true, nameRule: metavalidation.NameIsDNSSubdomain,
	}},
}

// builtin is the admitter of such a kind. Unknown fields and wrong types are found when the object is decoded.
type builtin struct {
	metadataRules
	check func(object map[string]any) []finding // of the rest; nil: nothing to check
}

func (n *builtin) admit(object map[string]any) []finding {
	findings := n.checkMetadata(object)
	if n.check != nil {
		findings = append(findings, n.check(object)...)
	}

	return findings
}

// checkRules reports rules that grant nothing.
func checkRules(object map[string]any) []finding {
	var findings []finding

	for i, rule := range objectsOf(object["rules"]) {
		if verbs, _ := rule["verbs"].([]any); len(verbs) == 0 {
			findings = append(findings, finding{fmt.Sprintf("rules[%d].verbs", i), "is required: a rule without verbs grants nothing"})
		}
	}

	return findings
}

// checkGrant reports errors that would make a ClusterRoleBinding ineffective or misleading.
func checkGrant(object map[string]any) []finding {
	var findings []finding

	ref, _ := object["roleRef"].(map[string]any)
	if _, hasName := text(ref, "name"); !hasName {
		findings = append(findings, finding{"roleRef.name", "is required: name the ClusterRole"})
	} else if kind, _ := text(ref, "kind"); kind != "ClusterRole" {
		findings = append(findings, finding{"roleRef.kind", "must be ClusterRole: a ClusterRoleBinding can refer to nothing else"})
	}

	for i, subject := range objectsOf(object["subjects"]) {
		findings = append(findings, checkSubject(fmt.Sprintf("subjects[%d].", i), subject)...)
	}

	return findings
}

func checkSubject(path string, subject map[string]any) []finding {
	kind, _ := text(subject, "kind")
	group, hasGroup := text(subject, "apiGroup")
	_, hasName := text(subject, "name")
	_, hasNamespace := text(subject, "namespace")
	isAccount := kind == rbacv1.ServiceAccountKind

	switch {
	case !isAccount && kind != rbacv1.UserKind && kind != rbacv1.GroupKind:
		return []finding{{path + "kind", "must be ServiceAccount, User or Group"}}
	case !hasName:
		return []finding{{path + "name", "is required: name the " + kind}}
	case isAccount && !hasNamespace:
		return []finding{{path + "namespace", "is required: say which namespace the ServiceAccount lives in"}}
	case isAccount && hasGroup:
		return []finding{{path + "apiGroup", "must be left out: a ServiceAccount is in the core group"}}
	case !isAccount && hasGroup && group != rbacv1.GroupName:
		return []finding{{path + "apiGroup", "must be " + rbacv1.GroupName}}
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
