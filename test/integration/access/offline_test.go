// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// ofFiles are what files are validated with.
var ofFiles = tools.Definitions{CRDs: sync.OnceValues(manifests.Definitions), Policies: admission.Once(manifests.Policies)}

// agreeOnCreation demands that files with an object are accepted or refused as the API server has answered to its creation, in its words where a
// policy refuses (docs/spec/differences.md E3).
func agreeOnCreation(ctx context.Context, object client.Object, answer error) {
	GinkgoHelper()
	if !isJudged(answer) {
		return
	}
	content := asFile(object)
	if namespace := namespaceOf(ctx, object); namespace != nil {
		content += "---\n" + asFile(namespace)
	}
	reader, err := ofFiles.Reader(statefile.Applied, statefile.Namespace{}, nil)
	Expect(err).NotTo(HaveOccurred())
	reader.Read("file", []byte(content))
	_, err = reader.State()
	valid := err == nil
	if valid {
		_, err = reader.Review(ctx)
	}
	agree(err, answer, valid)

	changes, err := ofFiles.ChangeReader(statefile.Namespace{}, nil)
	Expect(err).NotTo(HaveOccurred())
	changes.Read("file", []byte(content))
	if given, err := changes.State(); err != nil || len(given.Placements)+len(given.Bindings) == 0 { // Clusters are not compared.
		return
	}
	_, applied, err := changes.Apply(&explain.State{}, &statefile.Writes{Review: admission.NewReviewer(ctx, ofFiles.Policies)})
	Expect(err).NotTo(HaveOccurred())
	for _, one := range applied {
		if one.Kind.Kind != "Namespace" {
			agree(refusalOf(one.Result.Refused), answer, true)
		}
	}
}

// agreeOnUpdate demands that the policies say of an update what the API server has answered.
func agreeOnUpdate(ctx context.Context, old, object client.Object, answer error) {
	GinkgoHelper()
	if !isJudged(answer) {
		return
	}
	policies, err := ofFiles.Policies()
	Expect(err).NotTo(HaveOccurred())
	world := admission.NewWorld(nil, nil, nil)
	if namespace := namespaceOf(ctx, object); namespace != nil {
		world = admission.NewWorld([]*corev1.Namespace{namespace}, nil, nil)
	}
	request := admission.Request{Object: untyped(object), Old: untyped(old)}
	for _, sent := range []*unstructured.Unstructured{request.Object, request.Old} {
		delete(sent.Object, "status") // A write of an object leaves it.
	}
	answers, err := policies.ReviewAll(ctx, world, 1, []admission.Request{request})
	Expect(err).NotTo(HaveOccurred())
	agree(refusalOf([]string{answers[0].Refusal}), answer, true)
}

// isJudged reports whether the API server has answered what it does for a user with all rights.
func isJudged(answer error) bool { return answer == nil || apierrors.IsInvalid(answer) }

// agree demands that files are refused with an error as the API server has answered, by policies if the object is valid.
func agree(refusal, answer error, valid bool) {
	GinkgoHelper()
	if answer == nil {
		Expect(refusal).NotTo(HaveOccurred(), "the API server admits it")
		return
	}
	Expect(refusal).To(HaveOccurred(), "the API server refuses it: %v", answer)
	if _, words, byPolicy := strings.Cut(answer.Error(), "ValidatingAdmissionPolicy "); byPolicy && valid {
		Expect(ofThisVersion.Replace(refusal.Error())).To(ContainSubstring(ofThisVersion.Replace("ValidatingAdmissionPolicy " + words)))
	}
}

// refusalOf returns an error with the reasons of a refusal; nil without one.
func refusalOf(reasons []string) error {
	if text := strings.Join(reasons, "; "); text != "" {
		return &statefile.InputError{Problems: []statefile.Problem{{Message: text}}}
	}
	return nil
}

// namespaceOf returns the Namespace of an object; nil if it has none.
func namespaceOf(ctx context.Context, object client.Object) *corev1.Namespace {
	GinkgoHelper()
	if object.GetNamespace() == "" {
		return nil
	}
	namespace := &corev1.Namespace{}
	Expect(suite.Client.Get(ctx, client.ObjectKey{Name: object.GetNamespace()}, namespace)).To(Succeed())
	return &corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: namespace.Name, Labels: namespace.Labels},
	}
}

// untyped returns an object as the client sends it.
func untyped(object client.Object) *unstructured.Unstructured {
	GinkgoHelper()
	kind, err := suite.Client.GroupVersionKindFor(object)
	Expect(err).NotTo(HaveOccurred())
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	Expect(err).NotTo(HaveOccurred())
	sent := &unstructured.Unstructured{Object: fields}
	sent.SetGroupVersionKind(kind)
	return sent
}

// asFile returns an object as a file has it.
func asFile(object client.Object) string {
	GinkgoHelper()
	content, err := yaml.Marshal(untyped(object).Object)
	Expect(err).NotTo(HaveOccurred())
	return string(content)
}
