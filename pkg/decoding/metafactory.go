// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"bytes"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// leadingKind reads the kind of JSON data at its beginning, where API servers write it for custom resources. The MetaFactory of apimachinery,
// which it calls for other data, parses all of the data, and the decoder then parses it again: of the CPU time that a hub needs to start
// over 10,000 ManifestWorks, this and eventKind save a fifth.
type leadingKind struct{ json.MetaFactory }

// Interpret returns the kind of data. It does not validate the rest of the data, as the decoder does.
func (l leadingKind) Interpret(data []byte) (*schema.GroupVersionKind, error) {
	rest, found := bytes.CutPrefix(data, []byte(`{"apiVersion":"`))
	if !found {
		return l.MetaFactory.Interpret(data) //nolint:wrapcheck // It replaces the MetaFactory.
	}
	version, rest, isText := cutText(rest)
	rest, found = bytes.CutPrefix(rest, []byte(`,"kind":"`))
	kind, _, isKind := cutText(rest)

	group, err := schema.ParseGroupVersion(string(version))
	if !isText || !found || !isKind || err != nil {
		return l.MetaFactory.Interpret(data) //nolint:wrapcheck // It replaces the MetaFactory.
	}
	known := group.WithKind(string(kind))
	return &known, nil
}

// cutText cuts data behind the end of a JSON string that it is inside of. It reports false if the string does not end or has an escape.
func cutText(data []byte) (text, rest []byte, found bool) {
	text, rest, found = bytes.Cut(data, []byte(`"`))
	return text, rest, found && bytes.IndexByte(text, '\\') < 0
}

// eventKind is the MetaFactory for the events of a watch, which have no kind of their own.
type eventKind struct{}

// Interpret returns an empty kind: the decoder is given a WatchEvent to decode into.
func (eventKind) Interpret([]byte) (*schema.GroupVersionKind, error) {
	return &schema.GroupVersionKind{}, nil
}
