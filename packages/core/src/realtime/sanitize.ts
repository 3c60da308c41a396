import type { ServerConfig } from '@perdure/protocol'
import { codesOf, MARK, PATTERNS, type RedactionPattern, type RedactionRule } from './redaction-patterns.ts'

/** `redact` replaces each match with the name of its rule, `strip` removes it, `pass` disables the sanitizer. */
export type SanitizerPolicy = ServerConfig['realtime']['sanitizer']['policy']

export interface SanitizeOptions {
  readonly policy?: SanitizerPolicy // default: `redact`
  /** Called once per match. */
  readonly onDrop?: (rule: RedactionRule) => void
}

/** Removes credentials, private keys, bearer headers, connection strings and e-mail addresses from a text. */
export function sanitizeText(text: string, options: SanitizeOptions = {}): string {
  const { policy = 'redact', onDrop = () => undefined } = options
  if (policy === 'pass' || text.length < SHORTEST_EMAIL || !MARK.test(text)) return text
  let clean = text
  for (const pattern of PATTERNS) {
    const { rule, shortest, replacement } = pattern
    if (clean.length < shortest) continue
    clean = replaceMatches(clean, pattern, (groups) => {
      onDrop(rule)
      return replacementFor(policy, replacement).replace(/\$(\d)/g, (_, index: string) =>
        String(groups[Number(index) - 1] ?? ''),
      )
    })
  }
  return redactEmails(clean, () => {
    onDrop('email')
    return replacementFor(policy, '[redacted:email]')
  })
}

/** Length of `a@b.cc`: an e-mail address is the shortest match. */
const SHORTEST_EMAIL = 6

type ReplaceMatch = (groups: readonly unknown[]) => string

function replaceMatches(text: string, { regex, startsIn }: RedactionPattern, replace: ReplaceMatch): string {
  if (startsIn === undefined) return text.replace(regex, (_found, ...groups: unknown[]) => replace(groups))
  const sticky = stickyOf(regex)
  let clean = ''
  let done = 0
  for (const start of startsIn(text)) {
    if (start < done) continue
    sticky.lastIndex = start
    const match = sticky.exec(text)
    if (match === null) continue
    clean += text.slice(done, start) + replace(match.slice(1))
    done = sticky.lastIndex
  }
  return clean + text.slice(done)
}

const STICKY = new WeakMap<RegExp, RegExp>()

function stickyOf(regex: RegExp): RegExp {
  const sticky = STICKY.get(regex) ?? new RegExp(regex.source, regex.flags.replace('g', 'y'))
  STICKY.set(regex, sticky)
  return sticky
}

const replacementFor = (policy: SanitizerPolicy, mark: string) =>
  policy === 'strip' ? mark.replace(/\[redacted:[a-z-]+\]/, '') : mark

/** Sanitizes every string in the value, including object keys. */
export function sanitizeValue(value: unknown, options: SanitizeOptions = {}): unknown {
  if (typeof value === 'string') return sanitizeText(value, options)
  if (Array.isArray(value)) return value.map((item) => sanitizeValue(item, options))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, item]) => [sanitizeText(key, options), sanitizeValue(item, options)])
  return Object.fromEntries(members)
}

const isLocalCode = codesOf(/[A-Za-z0-9._%+-]/)
const DOMAIN = /[A-Za-z0-9](?:[A-Za-z0-9-]{0,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])/y
const MAX_LOCAL_LENGTH = 64

/** Searches outwards from each `@`, so that a text without an `@` costs a single scan. */
function redactEmails(text: string, markOf: () => string): string {
  let clean = ''
  let done = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > done && at - start < MAX_LOCAL_LENGTH && isLocalCode(text.charCodeAt(start - 1))) start--
    if (start === at) continue
    DOMAIN.lastIndex = at + 1
    const domain = DOMAIN.exec(text)?.[0]
    if (domain === undefined) continue
    clean += text.slice(done, start) + markOf()
    done = at + 1 + domain.length
  }
  return clean + text.slice(done)
}
