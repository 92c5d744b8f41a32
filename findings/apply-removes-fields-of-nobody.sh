#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A server-side apply that stops applying its only label removes a label that it has never applied, if no entry of metadata.managedFields has it.
#
# Versions:  k8s.io/apimachinery and k8s.io/client-go v0.37.2 with sigs.k8s.io/structured-merge-diff/v6, the packages of kube-apiserver 1.37.2.
# Input:     a CronJob with two labels. A user has set team by a version of the API that is gone (batch/v2alpha1), so that the API server drops the
#            entry of that version and nobody has the label. The manager "tool" has applied the label app. Then the tool applies the CronJob without
#            app, once without any label and once with another one.
# Seen:      without any label, team is removed together with app. With another label, only app is removed, and team stays. With an entry of a version
#            that there is, team stays in both cases.
# Expected:  team stays in all cases, because the tool has never applied it. The label of the user is gone although the tool leaves labels alone.
# Cause:     prune of structured-merge-diff removes the parents of what a manager applied before and does not apply now, here the map of labels. It
#            adds back the fields in it that other entries have, and so not those that no entry has.
#
# The script needs Go 1.26 and a module proxy. It exits with 1 if the behaviour differs from what is written here.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >go.mod <<'END'
module finding

go 1.26

require (
	k8s.io/api v0.37.2
	k8s.io/apimachinery v0.37.2
	k8s.io/client-go v0.37.2
)
END
cat >main.go <<'END'
package main

import (
	"fmt"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Println("unexpected:", err)
		os.Exit(1)
	}
	return value
}

func entry(manager string, operation metav1.ManagedFieldsOperationType, version, label string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: version, FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{"f:` + label + `":{}}}}`)},
	}
}

// apply returns the labels after the tool has applied these labels alone.
func apply(versionOfUser string, labels map[string]string) map[string]string {
	gvk := batchv1.SchemeGroupVersion.WithKind("CronJob")
	manager := must(managedfields.NewDefaultFieldManager(
		applyconfigurations.NewTypeConverter(scheme.Scheme), scheme.Scheme, scheme.Scheme, scheme.Scheme, gvk, gvk.GroupVersion(), "", nil))
	live := &batchv1.CronJob{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "demo", Labels: map[string]string{"app": "demo", "team": "a"},
			ManagedFields: []metav1.ManagedFieldsEntry{
				entry("tool", metav1.ManagedFieldsOperationApply, "batch/v1", "app"),
				entry("user", metav1.ManagedFieldsOperationUpdate, versionOfUser, "team"),
			},
		},
	}
	applied := &unstructured.Unstructured{}
	applied.SetGroupVersionKind(gvk)
	applied.SetName("demo")
	applied.SetLabels(labels)
	return must(manager.Apply(live, applied, "tool", false)).(*batchv1.CronJob).Labels
}

func main() {
	for _, version := range []string{"batch/v2alpha1", "batch/v1"} {
		fmt.Printf("user's entry of %s, no label applied: %v\n", version, apply(version, nil))
		fmt.Printf("user's entry of %s, another label applied: %v\n", version, apply(version, map[string]string{"tier": "x"}))
	}
}
END

cat >expected <<'END'
user's entry of batch/v2alpha1, no label applied: map[]
user's entry of batch/v2alpha1, another label applied: map[team:a tier:x]
user's entry of batch/v1, no label applied: map[team:a]
user's entry of batch/v1, another label applied: map[team:a tier:x]
END
go mod tidy 2>tidy.log || { cat tidy.log; exit 1; }
go run . >seen
cat seen
diff expected seen
