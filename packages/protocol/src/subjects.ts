import { OPERATOR_ID } from './ids.ts'

/**
 * What each subject carries, and the scope that lets a caller subscribe; `{name}` stands for an id. A caller with
 * `rowScope` can subscribe too, but receives only the rows that the grant covers: with `own`, the caller's own rows.
 */
// biome-ignore format: one line per table row
export const SUBJECTS = {
  agentRun: { pattern: 'agent:{agentId}/runs/{runId}/events', scope: 'agents:read:{agentId}', rowScope: 'runs:read:{runId}', summary: 'One run of the agent.' },
  workflowRun: { pattern: 'workflow:{workflowId}/runs/{runId}/events', scope: 'workflows:read:{workflowId}', rowScope: 'runs:read:{runId}', summary: 'One run of the workflow.' },
  session: { pattern: 'session:{sessionId}/events', scope: 'sessions:read:{sessionId}', summary: 'All runs, messages and changes of the session.' },
  sessionRun: { pattern: 'session:{sessionId}/runs/{runId}/events', scope: 'sessions:read:{sessionId}', summary: 'One run of the session.' },
  agent: { pattern: 'agent:{agentId}/events', scope: 'agents:read:{agentId}', summary: 'The life cycle of all runs of the agent.' },
  workflow: { pattern: 'workflow:{workflowId}/events', scope: 'workflows:read:{workflowId}', summary: 'The life cycle of all runs of the workflow.' },
  trigger: { pattern: 'trigger:{triggerId}/events', scope: 'triggers:read:{triggerId}', summary: 'Fires and state changes of the trigger.' },
  memory: { pattern: 'memory/events', scope: 'memory:read', summary: 'Facts written, deleted and consolidated.' },
  memoryConflicts: { pattern: 'memory/conflicts', scope: 'memory:read', summary: 'Conflicts between facts.' },
  approvals: { pattern: 'approvals/events', scope: 'approvals:read', summary: 'Approvals that are requested, resolved or expire.' },
  audit: { pattern: 'audit/events', scope: 'audit:read', summary: 'Entries of the audit chain, as selected by `audit.events`.' },
} as const satisfies Record<string, SubjectSpec>

type ScopeText = `${string}:${string}`

interface SubjectSpec {
  readonly pattern: string
  readonly scope: ScopeText
  readonly rowScope?: ScopeText
  readonly summary: string
}

/** The scopes that let a caller subscribe; any one of them suffices. */
export function scopesOfSubject(name: SubjectName): readonly ScopeText[] {
  const { scope, rowScope }: SubjectSpec = SUBJECTS[name]
  return rowScope === undefined ? [scope] : [scope, rowScope]
}

export type SubjectName = keyof typeof SUBJECTS

type Names<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | Names<Rest> : never

export type SubjectParams<N extends SubjectName> = { readonly [K in Names<(typeof SUBJECTS)[N]['pattern']>]: string }

export interface ParsedSubject {
  readonly name: SubjectName
  readonly params: Readonly<Record<string, string>>
}

/** The subject called `name`, with its ids filled in. */
export function formatSubject<N extends SubjectName>(name: N, params: SubjectParams<N>): string {
  const values: Readonly<Record<string, string>> = params
  return (PARTS[name] ?? []).map((part, index) => (index % 2 === 0 ? part : (values[part] ?? ''))).join('')
}

/** For each pattern: literal text and id names, alternating. */
const PARTS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(SUBJECTS).map(([name, { pattern }]) => [name, pattern.split(/\{(\w+)\}/)]),
)

const MATCHERS = Object.entries(SUBJECTS).map(([name, { pattern }]) => ({
  name: name as SubjectName,
  keys: [...pattern.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string),
  regex: new RegExp(`^${pattern.replace(/\{\w+\}/g, '([^/:]+)')}$`),
}))

/** Parses a subject; `undefined` for wildcards, unknown shapes and ids outside the id grammar. */
export function parseSubject(text: string): ParsedSubject | undefined {
  if (text.length > 320) return undefined
  for (const { name, keys, regex } of MATCHERS) {
    const match = regex.exec(text)
    if (match === null) continue
    const ids = match.slice(1)
    if (!ids.every((id) => OPERATOR_ID.test(id))) return undefined
    return { name, params: Object.fromEntries(keys.map((key, index) => [key, ids[index] as string])) }
  }
  return undefined
}
