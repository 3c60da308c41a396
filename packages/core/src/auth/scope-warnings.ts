import { parseScope } from '@perdure/protocol'

/** What `agents:…:<id>` and `workflows:…:<id>` name. */
export type ScopedTarget = 'agent' | 'workflow'

/** Whether an agent or workflow with this id is registered. */
export type IsRegistered = (kind: ScopedTarget, id: string) => boolean

const KINDS: ReadonlyMap<string, ScopedTarget> = new Map([
  ['agents', 'agent'],
  ['workflows', 'workflow'],
])

/**
 * One sentence for each scope that names an agent or workflow that is not registered. Such a scope is valid, because the
 * registration may follow, but it is often a typing error.
 */
export function scopeWarnings(scopes: readonly string[], isRegistered: IsRegistered): readonly string[] {
  return scopes.flatMap((text) => {
    const { resource = '', id = '*' } = parseScope(text) ?? {}
    const kind = KINDS.get(resource)
    if (kind === undefined || id === '*' || isRegistered(kind, id)) return []
    return [`scope ${text}: no ${kind} ${id} is registered`]
  })
}
