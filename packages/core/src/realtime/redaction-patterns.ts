/** Name of a redaction rule; also a metric label and part of the replacement text. */
export type RedactionRule = 'private-key' | 'bearer' | 'credential' | 'connection-string' | 'email'

export interface RedactionPattern {
  readonly rule: RedactionRule
  /**
   * Must match in linear time: no repeated group, and an unbounded repetition only as the last atom of the pattern or
   * up to the end of the text.
   */
  readonly regex: RegExp
  /** Replaces a match; `$1` keeps the part of the match that tells a reader what was redacted. */
  readonly replacement: string
}

export const PATTERNS: readonly RedactionPattern[] = [
  {
    rule: 'private-key',
    regex: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
    replacement: '[redacted:private-key]',
  },
  {
    rule: 'connection-string',
    regex: /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s:@/"']{0,128}:[^\s@/"']{1,256}@/gi,
    replacement: '$1[redacted:connection-string]@',
  },
  {
    rule: 'bearer',
    regex: /\b(bearer|basic)[ \t]{1,8}[A-Za-z0-9._~+/=-]{8,}/gi,
    replacement: '$1 [redacted:bearer]',
  },
  {
    rule: 'credential',
    regex:
      /\b(?:perdure_(?:live|test|local)_v1_|sk-|sk_|pk_|rk_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza)[A-Za-z0-9_-]{12,}/g,
    replacement: '[redacted:credential]',
  },
  {
    rule: 'credential',
    regex:
      /\b(api[-_]?key|secret|token|password|passwd|pwd)(["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)(?!\[redacted)[^\s"',;]{4,}/gi,
    replacement: '$1$2[redacted:credential]',
  },
]
