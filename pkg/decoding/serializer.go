// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

// negotiatedSerializer is the serializer of client-go with decoders that survive undecodable items.
type negotiatedSerializer struct {
	runtime.NegotiatedSerializer

	scheme    *runtime.Scheme
	supported []runtime.SerializerInfo
}

// newSerializer returns a serializer for the kinds of a scheme.
func newSerializer(scheme *runtime.Scheme) runtime.NegotiatedSerializer {
	through := serializer.NewCodecFactory(scheme).WithoutConversion()
	supported := slices.Clone(through.SupportedMediaTypes())
	for i := range supported {
		if supported[i].MediaType == runtime.ContentTypeJSON {
			supported[i] = fastJSON(supported[i], scheme)
		}
	}
	return negotiatedSerializer{NegotiatedSerializer: through, scheme: scheme, supported: supported}
}

// fastJSON replaces the serializers for JSON by ones that find the kinds of objects and of the events of watches faster.
func fastJSON(info runtime.SerializerInfo, scheme *runtime.Scheme) runtime.SerializerInfo {
	with := func(kinds kjson.MetaFactory) runtime.Serializer {
		return kjson.NewSerializerWithOptions(kinds, scheme, scheme, kjson.SerializerOptions{})
	}
	events := *info.StreamSerializer
	events.Serializer = with(eventKind{})
	info.Serializer, info.StreamSerializer = with(leadingKind{kjson.DefaultMetaFactory}), &events
	return info
}

// SupportedMediaTypes returns those of client-go.
func (s negotiatedSerializer) SupportedMediaTypes() []runtime.SerializerInfo { return s.supported }

// DecoderToVersion wraps the decoder of client-go.
func (s negotiatedSerializer) DecoderToVersion(serializer runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return decoder{strict: s.NegotiatedSerializer.DecoderToVersion(serializer, version), scheme: s.scheme}
}

// decoder decodes strictly first, and item by item if that fails.
type decoder struct {
	strict runtime.Decoder
	scheme *runtime.Scheme
}

// Decode decodes an object or a list. It returns the error of the strict decoder if the data is no JSON object of a known kind.
func (d decoder) Decode(
	data []byte, defaults *schema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	clearObject(into)
	object, kind, err := d.decodeStrictly(data, defaults, into)
	if err == nil {
		return object, kind, unmark(object)
	}
	kind = kindOf(data, defaults)
	if kind == nil {
		return object, nil, err
	}

	target := into
	if target == nil {
		created, unknown := d.scheme.New(*kind)
		if unknown != nil {
			return object, kind, err
		}
		target = created
	}
	clearObject(target)

	if !meta.IsListType(target) {
		return d.object(data, *kind, target, err)
	}
	return d.list(data, *kind, target, err)
}

// decodeStrictly decodes with the decoder of client-go. It returns an error for data that takes too long to parse.
func (d decoder) decodeStrictly(
	data []byte, defaults *schema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	if immoderate(data) {
		return nil, nil, errImmoderate
	}
	return d.strict.Decode(data, defaults, into) //nolint:wrapcheck // The sieve keeps its text.
}

// clearObject sets an object to its zero value, because decoding JSON keeps fields that the data lacks.
func clearObject(object runtime.Object) {
	if object != nil {
		value := reflect.ValueOf(object).Elem()
		value.Set(reflect.Zero(value.Type()))
	}
}

// unmark removes marks that come from the API server.
func unmark(object runtime.Object) error {
	if single, isOne := object.(metav1.Object); isOne {
		unreadable.Unmark(single)
		return nil
	}
	if !meta.IsListType(object) {
		return nil
	}
	return meta.EachListItem(object, func(item runtime.Object) error { //nolint:wrapcheck // The function returns none.
		if single, isOne := item.(metav1.Object); isOne {
			unreadable.Unmark(single)
		}
		return nil
	})
}

// kindOf returns the kind in JSON data, or the default; nil if the data is no JSON object.
func kindOf(data []byte, defaults *schema.GroupVersionKind) *schema.GroupVersionKind {
	var named metav1.TypeMeta
	if err := json.Unmarshal(data, &named); err != nil {
		return nil
	}
	kind := named.GroupVersionKind()
	if kind.Empty() {
		return defaults
	}
	return &kind
}

// object decodes an object without its undecodable fields; strictly is the error of the strict decoder.
func (d decoder) object(
	data []byte, kind schema.GroupVersionKind, into runtime.Object, strictly error,
) (runtime.Object, *schema.GroupVersionKind, error) {
	single, isOne := into.(metav1.Object)
	if !isOne {
		return nil, &kind, strictly
	}

	// A probed part has no kind of its own, so it is decoded with the kind of the object as the default.
	s := sieve{probe: func(document []byte) error {
		probed := reflect.New(reflect.TypeOf(into).Elem()).Interface()
		object, isObject := probed.(runtime.Object)
		if !isObject {
			return strictly
		}
		_, _, err := d.decodeStrictly(document, &kind, object)
		return err
	}}

	readable, kept := s.reduce(place{}, data, strictly)
	if !kept {
		return nil, &kind, strictly
	}
	if _, _, err := d.decodeStrictly(readable, &kind, into); err != nil {
		return nil, &kind, fmt.Errorf("decoding what can be read of a %s: %w", kind.Kind, err)
	}
	unreadable.Unmark(single)

	if err := unreadable.Mark(single, s.marked()); err != nil {
		return nil, &kind, err
	}
	return into, &kind, nil
}

// list decodes the envelope of a list and then each item on its own; strictly is the error of the strict decoder.
func (d decoder) list(
	data []byte, kind schema.GroupVersionKind, into runtime.Object, strictly error,
) (runtime.Object, *schema.GroupVersionKind, error) {
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(data, &envelope); err != nil {
		return nil, &kind, strictly
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(envelope["items"], &raw); err != nil {
		return nil, &kind, strictly
	}
	envelope["items"] = json.RawMessage("[]")

	empty, err := json.Marshal(envelope)
	if err != nil {
		return nil, &kind, strictly
	}
	if _, _, err := d.strict.Decode(empty, &kind, into); err != nil {
		return nil, &kind, strictly
	}

	items, err := d.items(raw, into)
	if err != nil {
		return nil, &kind, err
	}
	if err := meta.SetList(into, items); err != nil {
		return nil, &kind, fmt.Errorf("collecting the items of a %s: %w", kind.Kind, err)
	}
	return into, &kind, nil
}

// items decodes each item of a list on its own.
func (d decoder) items(raw []json.RawMessage, list runtime.Object) ([]runtime.Object, error) {
	kinds, _, err := d.scheme.ObjectKinds(list)
	if err != nil {
		return nil, fmt.Errorf("finding the kind of %T: %w", list, err)
	}
	kind := itemKind(kinds[0])
	items := make([]runtime.Object, 0, len(raw))

	for i, data := range raw {
		item, err := d.scheme.New(kind)
		if err != nil {
			return nil, fmt.Errorf("making a %s: %w", kind.Kind, err)
		}
		if _, _, err := d.Decode(data, &kind, item); err != nil {
			return nil, fmt.Errorf("decoding item %d of a list of %s: %w", i, kind.Kind, err)
		}
		items = append(items, item)
	}
	return items, nil
}
