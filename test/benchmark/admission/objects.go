// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
)

// The numbers of the objects.
const (
	Namespaces      = 500
	ClusterPolicies = 500 // each of which every review has to look at
	Policies        = 500 // one for each namespace
	// Matching is the number of policies that match a workload: two cluster policies and that of its namespace.
	Matching = 3
)

// A webhook reviews the workloads of one side only, chosen by this label of their namespaces. The webhooks of policies leave out namespaces
// with the value kube-system, so that value is the side of the floor.
const (
	sideLabel = "role"
	HubSide   = "tenant"
	FloorSide = "kube-system"
)

// teams is the number of values of the label team: two cluster policies select each of them.
const teams = ClusterPolicies / 2

// Address is where a webhook answers, and the certificate authority to trust.
type Address struct {
	URL      string `json:"url"`
	CABundle []byte `json:"caBundle"`
}

// NamespaceName returns the name of a namespace.
func NamespaceName(side string, i int) string { return fmt.Sprintf("%s-%03d", side, i%Namespaces) }

// Namespace returns a namespace of a side.
func Namespace(side string, i int) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: NamespaceName(side, i), Labels: map[string]string{sideLabel: side}}}
}

func team(i int) map[string]string {
	return map[string]string{"team": fmt.Sprintf("team-%03d", i%teams)}
}

// ClusterPolicy returns a policy for the Pods of one team: even ones add a node label and a toleration, odd ones required node affinity.
func ClusterPolicy(i int) *kupidv1alpha1.ClusterPodSchedulingPolicy {
	policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("policy-%03d", i)}}
	policy.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{sideLabel: HubSide}}
	policy.Spec.PodSelector = &metav1.LabelSelector{MatchLabels: team(i / 2)}
	if i%2 == 0 {
		policy.Spec.NodeSelector = map[string]string{"pool": "databases"}
		policy.Spec.Tolerations = []corev1.Toleration{{
			Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "databases", Effect: corev1.TaintEffectNoSchedule,
		}}
		return policy
	}
	policy.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"},
			}},
		}}},
	}}
	return policy
}

// Policy returns the policy of a namespace, which adds preferred pod anti-affinity to all its Pods.
func Policy(i int) *kupidv1alpha1.PodSchedulingPolicy {
	policy := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: NamespaceName(HubSide, i), Name: "spread"}}
	policy.Spec.PodSelector = &metav1.LabelSelector{}
	policy.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 10,
			PodAffinityTerm: corev1.PodAffinityTerm{
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "database"}}, TopologyKey: corev1.LabelHostname,
			},
		}},
	}}
	return policy
}

// Deployment returns a workload that Matching policies match, if it is on the side of the hub. Its template is an ordinary one.
func Deployment(side string, i int) *appsv1.Deployment {
	labels := team(i)
	labels["app"] = "database"
	container := corev1.Container{
		Name: "main", Image: "registry.example/database:1", Args: []string{"--data=/data", "--listen=0.0.0.0:5432"},
		Ports: []corev1.ContainerPort{{Name: "sql", ContainerPort: 5432}},
	}
	for n := range 20 {
		container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%02d", n), Value: "the value of a setting"})
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: NamespaceName(side, i), Name: fmt.Sprintf("database-%06d", i)},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{container}},
			},
		},
	}
}

// Pod returns a Pod on the side of the floor, where creating it asks no webhook of the hub.
func Pod(i int) *corev1.Pod {
	template := Deployment(FloorSide, i).Spec.Template
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: NamespaceName(FloorSide, i), Name: fmt.Sprintf("database-%06d", i), Labels: template.Labels,
		},
		Spec: template.Spec,
	}
}

// FloorConfiguration has the API server call a webhook that allows everything about Deployments on the side of the floor.
func FloorConfiguration(address Address) *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "floor"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:                    "floor.example.com",
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: ptr.To(address.URL + "/allow"), CABundle: address.CABundle},
			AdmissionReviewVersions: []string{"v1"},
			SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
			FailurePolicy:           ptr.To(admissionregistrationv1.Fail),
			ReinvocationPolicy:      ptr.To(admissionregistrationv1.IfNeededReinvocationPolicy),
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{sideLabel: FloorSide}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"},
				},
			}},
		}},
	}
}
