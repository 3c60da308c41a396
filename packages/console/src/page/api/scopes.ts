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
