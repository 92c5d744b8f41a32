// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"
	"strings"
)

// license is a license that the product may be distributed with.
type license struct {
	id string // of SPDX
	// phrases stand in the text in this order. A text is compared by its words in lower case.
	phrases []string
}

// The clauses of the BSD licenses.
const (
	bsdStart = "redistribution and use in source and binary forms with or without modification are permitted provided that the following " +
		"conditions are met"
	bsdSource   = "redistributions of source code must retain the above copyright notice this list of conditions and the following disclaimer"
	bsdBinary   = "redistributions in binary form must reproduce the above copyright notice this list of conditions and the following disclaimer"
	bsdName     = "used to endorse or promote products derived from this software without specific prior written permission"
	bsdLiable   = "even if advised of the possibility of such damage"
	bsdWarranty = "any express or implied warranties including but not limited to the implied warranties of merchantability and fitness for a " +
		"particular purpose are disclaimed"
)

// permitted are the licenses of which a module may have any. A license stands before those whose phrases are a part of its own.
var permitted = []license{
	{id: "Apache-2.0", phrases: []string{
		"apache license version 2 0 january 2004", "terms and conditions for use reproduction and distribution", "1 definitions",
		"2 grant of copyright license", "3 grant of patent license", "4 redistribution", "5 submission of contributions", "6 trademarks",
		"7 disclaimer of warranty", "8 limitation of liability", "9 accepting warranty or additional liability", "additional liability",
	}},
	{id: "MPL-2.0", phrases: []string{
		"mozilla public license version 2 0", "1 definitions", "2 license grants and conditions", "3 responsibilities",
		"4 inability to comply due to statute or regulation", "5 termination", "6 disclaimer of warranty", "7 limitation of liability",
		"8 litigation", "9 miscellaneous", "10 versions of the license", "exhibit a source code form license notice",
	}},
	{id: "BSD-3-Clause", phrases: []string{bsdStart, bsdSource, bsdBinary, bsdName, bsdWarranty, bsdLiable}},
	{id: "BSD-2-Clause", phrases: []string{bsdStart, bsdSource, bsdBinary, bsdWarranty, bsdLiable}},
	{id: "MIT", phrases: []string{
		"permission is hereby granted free of charge to any person obtaining a copy of this software and associated documentation files the " +
			"software to deal in the software without restriction including without limitation the rights to use copy modify merge publish " +
			"distribute sublicense and or sell copies of the software",
		"the above copyright notice and this permission notice shall be included in all copies or substantial portions of the software",
		"the software is provided as is without warranty of any kind",
	}},
	{id: "ISC", phrases: []string{
		"permission to use copy modify and or distribute this software for any purpose with or without fee is hereby granted",
		"the software is provided as is and",
	}},
}

// restrictions are phrases that restrict the use of what a permitted license allows.
var restrictions = []string{
	"commons clause", "business source license", "server side public license", "non commercial", "noncommercial", "all rights are reserved",
	"gnu affero general public license version",
}

var (
	wordPattern = regexp.MustCompile(`[a-z0-9]+`)
	spdxPattern = regexp.MustCompile(`SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+-]+)`)
)

// identify returns the permitted licenses of a text, sorted: those of its SPDX lines or, where it has none, those whose words it has. It returns
// nothing for a text that has none or another one besides.
func identify(text string) []string {
	if lines := spdxPattern.FindAllStringSubmatch(text, -1); lines != nil {
		var ids []string
		for _, line := range lines {
			if !slices.ContainsFunc(permitted, func(l license) bool { return l.id == line[1] }) {
				return nil
			}
			ids = append(ids, line[1])
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	words := " " + strings.Join(wordPattern.FindAllString(strings.ToLower(text), -1), " ") + " "
	var ids []string
	for _, l := range permitted {
		rest := words
		found := true
		for _, phrase := range l.phrases {
			at := strings.Index(rest, " "+phrase+" ")
			if found = at >= 0; !found {
				break
			}
			rest = rest[at+1:]
		}
		// BSD-3-Clause has everything that BSD-2-Clause has.
		if found && (l.id != "BSD-2-Clause" || !slices.Contains(ids, "BSD-3-Clause")) {
			ids = append(ids, l.id)
		}
	}
	for _, restriction := range restrictions {
		// The Mozilla Public License names licenses of GNU that it is compatible with.
		if strings.Contains(words, " "+restriction+" ") && !slices.Contains(ids, "MPL-2.0") {
			return nil
		}
	}
	slices.Sort(ids)
	return ids
}
