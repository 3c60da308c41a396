/** Name of a redaction rule; also a metric label and part of the replacement text. */
export type RedactionRule = 'private-key' | 'bearer' | 'credential' | 'connection-string' | 'email'

export interface RedactionPattern {
  readonly rule: RedactionRule
  /** Length of the shortest text that matches. */
  readonly shortest: number
  /**
   * Must match in linear time: no repeated group, and an unbounded repetition only as the last atom of the pattern or
   * up to the end of the text.
   */
  readonly regex: RegExp
  /**
   * Every position at which a match may start, in ascending order. For a pattern that would otherwise try most positions
   * of a text.
   */
  readonly startsIn?: (text: string) => Iterable<number>
  /** Replaces a match; `$1` keeps the part of the match that tells a reader what was redacted. */
  readonly replacement: string
}

export const PATTERNS: readonly RedactionPattern[] = [
  {
    rule: 'private-key',
    shortest: 27,
    regex: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
    replacement: '[redacted:private-key]',
  },
  {
    rule: 'connection-string',
    shortest: 8,
    startsIn: schemesIn,
    regex: /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s:@/"']{0,128}:[^\s@/"']{1,256}@/gi,
    replacement: '$1[redacted:connection-string]@',
  },
  {
    rule: 'bearer',
    shortest: 14,
    regex: /\b(bearer|basic)[ \t]{1,8}[A-Za-z0-9._~+/=-]{8,}/gi,
    replacement: '$1 [redacted:bearer]',
  },
  {
    rule: 'credential',
    shortest: 15,
    regex:
      /\b(?:perdure_(?:live|test|local)_v1_|sk-|sk_|pk_|rk_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza)[A-Za-z0-9_-]{12,}/g,
    replacement: '[redacted:credential]',
  },
  {
    rule: 'credential',
    shortest: 8,
    regex:
      /\b(api[-_]?key|secret|token|password|passwd|pwd)(["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)(?!\[redacted)[^\s"',;]{4,}/gi,
    replacement: '$1$2[redacted:credential]',
  },
]

/** A character or the start of a prefix that every match of a pattern, and every e-mail address, contains. */
export const MARK = /[@:= \t_-]|A[IKS]/

const MAX_SCHEME_LENGTH = 21
const isSchemeCode = codesOf(/[a-z0-9+.-]/i)

/** Start of each scheme that `://` follows. */
function* schemesIn(text: string): Generator<number, void, void> {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 1)) {
    let start = at
    while (at - start <= MAX_SCHEME_LENGTH && isSchemeCode(text.charCodeAt(start - 1))) start--
    if (at - start <= MAX_SCHEME_LENGTH) yield start
  }
}

/** Tests the code of an ASCII character; faster than `pattern`. */
export function codesOf(pattern: RegExp): (code: number) => boolean {
  const codes = Uint8Array.from({ length: 128 }, (_, code) => Number(pattern.test(String.fromCharCode(code))))
  return (code) => codes[code] === 1
}
