/** What the redactor looks for; the name of a rule is a metric label and stands in what replaces the find. */
export type RedactionRule = 'private-key' | 'bearer' | 'credential' | 'connection-string' | 'email'

/** `redact` names in place what was found, `strip` leaves nothing of it, `pass` looks for nothing. */
export type SanitizerPolicy = 'redact' | 'strip' | 'pass'

export interface SanitizeOptions {
  readonly policy?: SanitizerPolicy // `redact` when missing
  /** Called once per find. */
  readonly onDrop?: (rule: RedactionRule) => void
}

interface Pattern {
  readonly rule: RedactionRule
  /** Has only bounded repetitions, or ones that end with the text, so that its cost grows with the text alone. */
  readonly regex: RegExp
  /** What stands in for a find; `$1` keeps what tells a reader what was there. */
  readonly replacement: string
}

const PATTERNS: readonly Pattern[] = [
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
      /\b(?:berth_(?:live|test|local)_v1_|sk-|sk_|pk_|rk_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza)[A-Za-z0-9_-]{12,}/g,
    replacement: '[redacted:credential]',
  },
  {
    rule: 'credential',
    regex:
      /\b(api[-_]?key|secret|token|password|passwd|pwd)(["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)(?!\[redacted)[^\s"',;]{4,}/gi,
    replacement: '$1$2[redacted:credential]',
  },
]

/** Removes credentials, private keys, bearer headers, connection strings and e-mail addresses from a text. */
export function sanitizeText(text: string, options: SanitizeOptions = {}): string {
  const { policy = 'redact', onDrop = () => undefined } = options
  if (policy === 'pass') return text
  let clean = text
  for (const { rule, regex, replacement } of PATTERNS) {
    clean = clean.replace(regex, (_found, ...groups: unknown[]) => {
      onDrop(rule)
      return markFor(policy, replacement).replace(/\$(\d)/g, (_, index: string) =>
        String(groups[Number(index) - 1] ?? ''),
      )
    })
  }
  return redactEmails(clean, () => {
    onDrop('email')
    return markFor(policy, '[redacted:email]')
  })
}

const markFor = (policy: SanitizerPolicy, mark: string) =>
  policy === 'strip' ? mark.replace(/\[redacted:[a-z-]+\]/, '') : mark

/** The value with every string in it sanitized, object keys included. */
export function sanitizeValue(value: unknown, options: SanitizeOptions = {}): unknown {
  if (typeof value === 'string') return sanitizeText(value, options)
  if (Array.isArray(value)) return value.map((item) => sanitizeValue(item, options))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, item]) => [sanitizeText(key, options), sanitizeValue(item, options)])
  return Object.fromEntries(members)
}

const LOCAL_PART = /[A-Za-z0-9._%+-]/
const DOMAIN = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])/
const MAX_LOCAL_LENGTH = 64
const MAX_DOMAIN_LENGTH = 255

/** Looks outwards from each `@`, so that a text without one costs one scan. */
function redactEmails(text: string, markOf: () => string): string {
  let clean = ''
  let done = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > done && at - start < MAX_LOCAL_LENGTH && LOCAL_PART.test(text.charAt(start - 1))) start--
    const domain = DOMAIN.exec(text.slice(at + 1, at + 1 + MAX_DOMAIN_LENGTH))?.[0]
    if (start === at || domain === undefined) continue
    clean += text.slice(done, start) + markOf()
    done = at + 1 + domain.length
  }
  return clean + text.slice(done)
}
