// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

func TestAnUnreadableSpecIsAMistake(t *testing.T) {
	for _, adapter := range api.Adapters() {
		object := adapter.Empty()
		object.SetName("p")
		single, isOne := object.(metav1.Object)
		if !isOne {
			t.Fatalf("%T has no metadata", object)
		}

		err := unreadable.Mark(single, unreadable.Fields{
			{Path: "spec.x", Value: "4294967296", Problem: "is too long"}, {Path: "status.conditions[0].lastTransitionTime"},
		})
		if err != nil {
			t.Fatal(err)
		}
		mistakes := adapter.Read(object).Request(selector.NewCompiler()).Errors
		if len(mistakes) == 0 {
			t.Fatalf("%s: there is no mistake", adapter.Name())
		}

		expect(t, "mistake", `spec.x: Invalid value: "4294967296": is too long`, mistakes[len(mistakes)-1].Error())
	}
}
