import { EVERY_ROW, perdureError, type RowAccess, type RunKind, type RunRecord, type Visibility } from '@perdure/ports'
import {
  ADMIN_SCOPE,
  OPERATION_TABLES,
  type Operation,
  OWNED_RESOURCES,
  parseScope,
  type ScopeRule,
} from '@perdure/protocol'
import type { Principal } from './principal.ts'

/** What the rights of a principal depend on. */
type Grantee = Pick<Principal, 'subject' | 'scopes'>

interface Grants {
  readonly all: boolean
  readonly own: boolean
  readonly ids: readonly string[]
}

/**
 * Decides whether a principal may call an operation, and which rows it can see.
 *
 * @param params the path parameters that fill the rule's `{name}` slots
 * @throws PerdureError `scope-denied` if no grant can allow any row
 */
export function authorize(principal: Grantee, rule: ScopeRule, params: Readonly<Record<string, string>>): Visibility {
  if (rule === null || rule === 'principal') return EVERY_ROW
  if (typeof rule === 'string') return authorizeScope(principal, rule, params)
  if ('anyOf' in rule) return authorizeRows(principal, rule.anyOf, params)
  return authorizeScope(principal, rule.scope, params)
}

/**
 * Decides whether a principal may call an operation, and which rows it may affect. If the operation has `sight` scopes,
 * these are the rows that the principal owns or may read with one of these scopes.
 *
 * @throws PerdureError `scope-denied`
 */
export function authorizeOperation(
  principal: Principal,
  { scope, sight }: Pick<Operation, 'scope' | 'sight'>,
  params: Readonly<Record<string, string>>,
): Visibility {
  const visibility = authorize(principal, scope, params)
  return sight === undefined ? visibility : rowsOf(principal, sight, { owner: principal.subject })
}

/**
 * Requires the right to start runs of a target and to change the visible runs of that target.
 *
 * @throws PerdureError `scope-denied`
 */
export function authorizeTarget(
  principal: Principal,
  { kind, id }: { readonly kind: RunKind; readonly id: string },
): void {
  const { agents, workflows } = OPERATION_TABLES
  if (kind === 'agent') authorize(principal, agents.runAgent.scope, { agentId: id })
  else authorize(principal, workflows.executeWorkflow.scope, { workflowId: id })
}

function authorizeScope(principal: Grantee, rule: string, params: Readonly<Record<string, string>>): Visibility {
  const [resource = '', action = '', third] = rule.split(':')
  const slot = slotOf(third)
  if (third !== undefined && slot === undefined) return authorizeLiteral(principal, rule)

  const grants = grantsOf(principal, resource, action)
  const id = slot === undefined ? undefined : params[slot]
  if (grants.all) return EVERY_ROW
  if (id !== undefined && grants.ids.includes(id)) return EVERY_ROW
  if (grants.own) return { owner: principal.subject }
  throw denied([third === undefined ? rule : `${resource}:${action}:${id}`])
}

function authorizeLiteral(principal: Grantee, scope: string): Visibility {
  const implied = scope === 'traces:read:sanitized' ? [scope, 'traces:read:raw'] : [scope]
  if (principal.scopes.some((held) => held === ADMIN_SCOPE || implied.includes(held))) return EVERY_ROW
  throw denied([scope])
}

function authorizeRows(
  principal: Grantee,
  anyOf: readonly string[],
  params: Readonly<Record<string, string>>,
): Visibility {
  const access = rowsOf(principal, anyOf, {})
  if (access === EVERY_ROW || Object.keys(access).length > 0) return access
  throw denied(anyOf.map((template) => filled(template, params)))
}

/** Whether a principal may repair a run, that is, start a fork of it that keeps a decision or replaces what it had recorded. */
export function mayRepair(principal: Principal, { id, owner }: Pick<RunRecord, 'id' | 'owner'>): boolean {
  const access = rowsOf(principal, [OPERATION_TABLES.runs.forkRun.mayNeed[0]], {})
  return access === EVERY_ROW || access.ids?.includes(id) === true || access.owner === owner
}

/** The triggers that a principal may read; no id if it may read none. */
export function readableTriggers(principal: Principal): Visibility {
  return rowsOf(principal, [OPERATION_TABLES.triggers.getTrigger.scope], {})
}

/** Whether a principal may read a token: its own one, or one that its scopes cover. */
export function mayReadToken(principal: Principal, tokenId: string): boolean {
  if (principal.tokenId === tokenId) return true
  const access = rowsOf(principal, [OPERATION_TABLES.tokens.getToken.scope], {})
  return access === EVERY_ROW || access.ids?.includes(tokenId) === true
}

/** Whether the grants of a principal cover a scope as it is written. */
export function holdsScope(principal: Grantee, text: string): boolean {
  const scope = parseScope(text)
  if (scope === undefined) return false
  const { all, own, ids } = grantsOf(principal, scope.resource, scope.action)
  return all || (scope.id === 'own' ? own : scope.id !== undefined && ids.includes(scope.id))
}

/** The given rows, plus the rows covered by a grant for one of the templates. */
function rowsOf(principal: Grantee, templates: readonly string[], given: RowAccess): Visibility {
  let access = given
  for (const template of templates) {
    const [resource = '', action = '', third] = template.split(':')
    const grants = grantsOf(principal, resource, action)
    if (grants.own) access = { ...access, owner: principal.subject }
    const rows = grants.all ? 'all' : grants.ids
    if (rows.length === 0) continue
    const slot = slotOf(third)
    if (slot === 'agentId') access = { ...access, agentIds: rows }
    else if (slot === 'workflowId') access = { ...access, workflowIds: rows }
    else if (rows === 'all') return EVERY_ROW
    else access = { ...access, ids: rows }
  }
  return access
}

function grantsOf(principal: Grantee, resource: string, action: string): Grants {
  const ids: string[] = []
  let all = false
  let own = false
  for (const text of principal.scopes) {
    if (text === ADMIN_SCOPE) return { all: true, own: false, ids: [] }
    const grant = parseScope(text)
    if (grant?.resource !== resource || (grant.action !== action && grant.action !== '*')) continue
    if (grant.id === undefined || grant.id === '*') all = true
    else if (grant.id === 'own' && OWNED_RESOURCES.has(resource)) own = true
    else ids.push(grant.id)
  }
  return { all, own, ids }
}

const slotOf = (third: string | undefined) => /^\{(\w+)\}$/.exec(third ?? '')?.[1]

/** The scope that a token needs, with the id from the path. The id is omitted if the path has none. */
const filled = (template: string, params: Readonly<Record<string, string>>): string =>
  template.replace(/:\{(\w+)\}$/, (_, slot: string) => (params[slot] === undefined ? '' : `:${params[slot]}`))

const denied = (scopes: readonly string[]) =>
  perdureError('scope-denied', { hint: `use a token with the scope ${scopes.join(' or ')}` })
