import { isGrantable, nearest, SCOPES } from '@perdure/protocol'
import { cliError } from '../cli-error.ts'

/** @throws a usage error that suggests a scope for the first unknown one */
export function checkScopes(scopes: readonly string[]): void {
  const unknown = scopes.find((scope) => !isGrantable(scope))
  if (unknown === undefined) return
  const message = `unknown scope ${unknown}`
  throw cliError('validation-failed', { message, hint: hintFor(unknown), exit: 'usage' })
}

const NAMES = Object.keys(SCOPES)

function hintFor(unknown: string): string {
  const [noun = '', verb = '', ...rest] = unknown.split(':')
  const same = NAMES.filter((name) => name.startsWith(`${noun}:`))
  const verbs = same.map((name) => name.slice(noun.length + 1))
  const nearVerb = nearest(verb, verbs)
  const near = same.length === 0 ? nearest(`${noun}:${verb}`, NAMES) : nearVerb && `${noun}:${nearVerb}`
  const suggestion = near === undefined ? undefined : [near, ...rest].join(':')
  if (suggestion !== undefined && isGrantable(suggestion)) return `Did you mean ${suggestion}?`
  return same.length === 0
    ? 'run: perdure docs search scopes. Only admin:* covers every scope'
    : `use one of ${same.join(', ')}`
}
