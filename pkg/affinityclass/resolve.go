// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
)

// hashDigits is the number of hex digits of the hash of a spec.
const hashDigits = 16

// Record says which class was resolved for which spec of an application. It is the value of the annotation ResolvedAnnotation.
type Record struct {
	// Class is empty for none.
	Class string
	// Hash is that of the spec: see HashSpec.
	Hash string
}

// String returns <class>@<hash>.
func (r Record) String() string { return r.Class + "@" + r.Hash }

// ParseRecord returns the record of an annotation; false if it is missing or malformed.
func ParseRecord(annotation string) (Record, bool) {
	class, hash, found := strings.Cut(annotation, "@")
	digits, err := hex.DecodeString(hash)
	if !found || err != nil || len(digits) != hashDigits/2 || strings.ToLower(hash) != hash {
		return Record{}, false
	}
	return Record{Class: class, Hash: hash}, true
}

// HashSpec returns the first 16 hex digits of the SHA-256 of a spec as JSON with sorted keys and without spaces. An absent spec is an empty
// one.
func HashSpec(spec map[string]any) (string, error) {
	if spec == nil {
		spec = map[string]any{}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(spec); err != nil {
		return "", fmt.Errorf("encode the spec: %w", err)
	}
	sum := sha256.Sum256(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:])[:hashDigits], nil
}

// Resolution is the class of an application for its present spec.
type Resolution struct {
	// Class is nil for none.
	Class *cozystackv1alpha1.AffinityClass
	// Record has to be written with the class.
	Record Record
	// Refusal says why there is no class; the HelmRelease then keeps what it has. Nil if the class is resolved.
	Refusal *field.Error
	// Unguarded says that the class must not be written yet, because it has no finalizer that keeps it while it is in use.
	Unguarded bool
}

// Resolve chooses the class of an application by its spec and by the record of its HelmRelease. A class is resolved once per spec: while
// the record is that of the present spec, its class stays, whatever becomes of the Tenant (docs/spec/affinity-class.md 1.3). The error
// is that of reading a class.
func Resolve(tree *Tree, classes Classes, namespace Namespace, spec map[string]any, annotation string) (Resolution, error) {
	hash, err := HashSpec(spec)
	if err != nil {
		return Resolution{}, err
	}
	record, _ := ParseRecord(annotation)
	var resolution Resolution
	if record.Hash == hash {
		resolution, err = keep(classes, record)
	} else {
		resolution, err = resolveAnew(tree, classes, namespace, spec, Record{Class: record.Class, Hash: hash})
	}
	if err != nil {
		return Resolution{}, err
	}
	resolution.Unguarded = resolution.Class != nil && !slices.Contains(resolution.Class.Finalizers, cozystackv1alpha1.InUseFinalizer)

	return resolution, nil
}

// keep returns the resolution of a record that is that of the present spec.
func keep(classes Classes, record Record) (Resolution, error) {
	resolution := Resolution{Record: record}
	if record.Class == "" {
		return resolution, nil
	}
	class, err := classes(record.Class)
	if err != nil {
		return Resolution{}, fmt.Errorf("reading AffinityClass %q: %w", record.Class, err)
	}
	if class == nil {
		resolution.Refusal = field.Invalid(classPath, record.Class, notFound(record.Class))
	}
	resolution.Class = class

	return resolution, nil
}

// resolveAnew returns the resolution of a spec, given its hash and the class of the spec before.
func resolveAnew(tree *Tree, classes Classes, namespace Namespace, spec map[string]any, before Record) (Resolution, error) {
	class, refusal, err := choose(tree, classes, namespace, spec, []string{before.Class})
	resolution := Resolution{Class: class, Refusal: refusal, Record: Record{Hash: before.Hash}}
	if class != nil {
		resolution.Record.Class = class.Name
	}
	return resolution, err
}
