package statefile

import (
	corev1 "k8s.io/api/core/v1"
)

var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// NamespacesAfter returns the Namespaces of the files after they were applied to the live ones as `kubectl apply` does. What Pods, delivered
// objects and all other parts of a comparison read of a Namespace is what this function returns. It does not modify the given Namespaces.
func (c *ChangeReader) NamespacesAfter(live []*corev1.Namespace) ([]*corev1.Namespace, error) {
	given, err := c.State()
	if err != nil {
		return nil, err
	}

	m := &merger{reader: c.reader, kept: map[string][]string{}}
	after := mergeAll(m, namespaceKind, given.Federated.Namespaces, live)

	return after, m.err
}
