package selector

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// lazyMap is a map of an object of which most expressions read a field or two: those are made when they are asked for, and the whole only
// for what needs it, such as size() or a comprehension.
type lazyMap struct {
	// field is the value of a name; false when there is none. It may be an error.
	field func(name string) (ref.Val, bool)
	whole func() ref.Val
}

var _ traits.Mapper = (*lazyMap)(nil)

// lazyCluster is a ManagedCluster as a map.
func lazyCluster(f *clusterinfo.ClusterInfo) *lazyMap {
	object := sync.OnceValues(f.Object)

	return &lazyMap{
		field: func(name string) (ref.Val, bool) {
			if !clusterinfo.IsPart(name) {
				return nil, false
			}

			return lazyPart(f, name, object), true
		},
		whole: func() ref.Val { return mapOf(object()) },
	}
}

// lazyPart is the metadata, spec or status of a ManagedCluster.
func lazyPart(f *clusterinfo.ClusterInfo, part string, object func() (map[string]any, error)) *lazyMap {
	return &lazyMap{
		field: func(name string) (ref.Val, bool) {
			if part == "metadata" && name == "labels" && len(f.Labels) > 0 { // Most expressions are about labels, which are a map as they are.
				return types.NewStringStringMap(types.DefaultTypeAdapter, f.Labels), true
			}

			value, found, err := f.PartField(part, name)
			if err != nil {
				return types.WrapErr(err), true
			}

			return types.DefaultTypeAdapter.NativeToValue(value), found
		},
		whole: func() ref.Val {
			whole, err := object()
			if err != nil {
				return types.WrapErr(err)
			}

			return types.DefaultTypeAdapter.NativeToValue(whole[part])
		},
	}
}

func mapOf(fields map[string]any, err error) ref.Val {
	if err != nil {
		return types.WrapErr(fmt.Errorf("reading the cluster: %w", err))
	}

	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, fields)
}

// Find is for traits.Mapper.
func (s *lazyMap) Find(key ref.Val) (ref.Val, bool) {
	if name, ok := key.(types.String); ok {
		return s.field(string(name))
	}

	return nil, false
}

// Get is Find with an error for what is not there.
func (s *lazyMap) Get(key ref.Val) ref.Val {
	if value, found := s.Find(key); found {
		return value
	}

	if whole, ok := s.whole().(traits.Indexer); ok {
		return whole.Get(key)
	}

	return s.whole()
}

// Contains reports whether there is a field of a name.
func (s *lazyMap) Contains(key ref.Val) ref.Val {
	if _, found := s.Find(key); found {
		return types.True
	}

	if whole, ok := s.whole().(traits.Container); ok {
		return whole.Contains(key)
	}

	return s.whole()
}

// Iterator goes over the names of the fields.
func (s *lazyMap) Iterator() traits.Iterator {
	if whole, ok := s.whole().(traits.Iterable); ok {
		return whole.Iterator()
	}

	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, nil).Iterator()
}

// Size is how many fields there are.
func (s *lazyMap) Size() ref.Val {
	if whole, ok := s.whole().(traits.Sizer); ok {
		return whole.Size()
	}

	return s.whole()
}

// Equal compares the whole.
func (s *lazyMap) Equal(other ref.Val) ref.Val {
	if same, ok := other.(*lazyMap); ok {
		other = same.whole()
	}

	return s.whole().Equal(other)
}

// ConvertToNative converts the whole.
func (s *lazyMap) ConvertToNative(to reflect.Type) (any, error) {
	return s.whole().ConvertToNative(to) //nolint:wrapcheck // The error of what it stands for.
}

// ConvertToType converts the whole.
func (s *lazyMap) ConvertToType(to ref.Type) ref.Val {
	if to == types.TypeType {
		return types.MapType
	}

	return s.whole().ConvertToType(to)
}

// Type is that of a map.
func (s *lazyMap) Type() ref.Type { return types.MapType }

// Value is the whole.
func (s *lazyMap) Value() any { return s.whole().Value() }
