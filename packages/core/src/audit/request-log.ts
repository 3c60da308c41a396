import type { NewAuditEntry, RequestOrigin } from '@perdure/ports'

/** An audit entry that was committed together with the privileged action that the entry describes. */
export interface PrivilegedAction {
  readonly entry: NewAuditEntry
  /** Key of the staged entry, if the chain is in another database. */
  readonly key?: string | undefined
}

/** For each unanswered request, the audit entries that were committed with its privileged actions. */
export interface RequestLog {
  add(origin: RequestOrigin, action: PrivilegedAction): void
  /** Removes and returns the actions of a request that is being answered. */
  take(origin: RequestOrigin): readonly PrivilegedAction[]
  /** Whether the request that staged this entry is still unanswered. */
  isUnanswered(key: string): boolean
}

export function createRequestLog(): RequestLog {
  const byOrigin = new Map<RequestOrigin, PrivilegedAction[]>()
  const unanswered = new Set<string>()

  return {
    add(origin, action) {
      const actions = byOrigin.get(origin) ?? []
      byOrigin.set(origin, [...actions, action])
      if (action.key !== undefined) unanswered.add(action.key)
    },
    take(origin) {
      const actions = byOrigin.get(origin) ?? []
      byOrigin.delete(origin)
      for (const { key } of actions) if (key !== undefined) unanswered.delete(key)
      return actions
    },
    isUnanswered: (key) => unanswered.has(key),
  }
}
