/**
 * Whether some scope of the session allows this action on at least one row. Decides what is drawn; the server decides
 * what is allowed.
 */
export function allows(scopes: readonly string[], wanted: string): boolean {
  const [resource, action, third] = wanted.split(':')
  return scopes.some((scope) => {
    if (scope === 'admin:*' || scope === wanted) return true
    const [grantedResource, grantedAction] = scope.split(':')
    return third === undefined && grantedResource === resource && (grantedAction === action || grantedAction === '*')
  })
}

/**
 * Whether a session may decide what is assigned so. The page does not know who owns the run: for `user`, the server
 * decides.
 */
export function isAssignedTo(scopes: readonly string[], assignee: string | undefined): boolean {
  if (assignee === undefined || assignee === 'user') return true
  if (assignee !== 'staff') return scopes.some((scope) => scope === assignee || covers(scope, assignee))
  return scopes.some((scope) => /^(admin:\*|approvals:(resolve|\*)(:(?!own$).+)?)$/.test(scope))
}

/** Whether the scope has no id, or all of them, of an action of the wanted one. */
function covers(scope: string, wanted: string): boolean {
  if (scope === 'admin:*') return true
  const [resource, action, id = '*'] = scope.split(':')
  const [wantedResource, wantedAction] = wanted.split(':')
  return resource === wantedResource && (action === wantedAction || action === '*') && id === '*'
}
