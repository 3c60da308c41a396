/**
 * Scope grammar: `resource:action[:id]`. In a grant, action and id can be `*`; the id can be `own` if the rows of the
 * resource have an owner.
 */
export interface ScopeSpec {
  /** What the third part can be: an id, nothing, or one of these literals. */
  readonly third: 'id' | 'none' | readonly string[]
  /** Rows have an owner, so a grant can use `own` for the rows that the token's subject owns. */
  readonly owned?: true
  /** A token for a user can have it, for the rows that the user owns. */
  readonly forUsers?: true
  readonly summary: string
}

/** Every scope a token can hold. */
export const SCOPES = {
  'agents:read': { third: 'id', summary: 'See agents, their state, their runs and events.' },
  'agents:invoke': { third: 'id', summary: 'Run, stream and abort agents.' },
  'runs:read': { third: 'id', owned: true, forUsers: true, summary: 'See runs and their events.' },
  'runs:repair': {
    third: 'id',
    owned: true,
    summary: 'Fork runs behind a decision, and replace their input or recorded results in a fork.',
  },
  'approvals:read': { third: 'id', owned: true, summary: 'See approvals.' },
  'approvals:resolve': { third: 'id', owned: true, summary: 'Decide approvals.' },
  'workflows:read': { third: 'id', summary: 'See workflows, their threads and events.' },
  'workflows:execute': { third: 'id', summary: 'Execute and abort workflows.' },
  'workflows:resume': { third: 'id', summary: 'Resume suspended workflow threads.' },
  'workflows:delete': { third: 'id', summary: 'Delete workflow threads.' },
  'sessions:read': { third: 'id', owned: true, forUsers: true, summary: 'See sessions, transcripts and events.' },
  'sessions:write': { third: 'id', owned: true, forUsers: true, summary: 'Create, change and delete sessions.' },
  'sessions:export': { third: 'id', owned: true, summary: 'Export sessions.' },
  'files:read': { third: 'id', owned: true, forUsers: true, summary: 'See files and their contents.' },
  'files:write': { third: 'id', owned: true, forUsers: true, summary: 'Store and delete files.' },
  'memory:read': { third: 'id', owned: true, summary: 'Search and read memory.' },
  'memory:write': { third: 'id', owned: true, summary: 'Write and delete memory.' },
  'consolidator:read': { third: 'none', summary: 'See the consolidator queue and dead letters.' },
  'consolidator:write': { third: 'none', summary: 'Start the consolidator and retry dead letters.' },
  'skills:read': { third: 'id', summary: 'See skills.' },
  'skills:install': { third: 'id', summary: 'Install and remove skills.' },
  'mcp:read': { third: 'id', summary: 'See MCP servers and their tools.' },
  'mcp:write': { third: 'id', summary: 'Add and remove MCP servers.' },
  'mcp:call': { third: 'id', summary: 'Call tools of MCP servers.' },
  'tokens:read': { third: 'id', summary: 'See tokens.' },
  'tokens:create': { third: 'none', summary: 'Mint tokens within the caller’s own scopes.' },
  'tokens:mint': {
    third: ['sessions'],
    summary: 'Mint tokens of at most an hour for users: each runs one agent and sees only what its user owns.',
  },
  'tokens:revoke': { third: 'id', summary: 'Rotate and revoke tokens.' },
  'subjects:read': { third: 'none', summary: 'See what every subject uses.' },
  'subjects:export': { third: 'none', summary: 'Export what a subject owns.' },
  'subjects:delete': { third: 'none', summary: 'Delete what a subject owns.' },
  'audit:read': { third: 'none', summary: 'See the audit log.' },
  'audit:export': { third: 'none', summary: 'Export the audit log.' },
  'audit:verify': { third: 'none', summary: 'Verify the audit chain.' },
  'triggers:read': { third: 'id', summary: 'See triggers and fires.' },
  'triggers:write': { third: 'id', summary: 'Create, change and prune triggers.' },
  'triggers:fire': { third: 'id', summary: 'Fire triggers manually.' },
  'webhooks:read': { third: 'id', owned: true, summary: 'See webhooks and their deliveries.' },
  'webhooks:write': {
    third: 'id',
    owned: true,
    summary:
      'Add, change, test and delete webhooks; without `own`, also webhooks that receive the events of every owner.',
  },
  'hooks:read': { third: 'id', summary: 'See hooks and the deliveries that they have received, with their content.' },
  'hooks:write': { third: 'id', summary: 'Replay deliveries of hooks and send signed samples to them.' },
  'events:emit': { third: 'id', summary: 'Emit named events.' },
  'config:read': {
    third: 'none',
    summary: 'See the configuration, without secrets, and the servers that share the storage.',
  },
  'nodes:read': { third: 'none', summary: 'See the servers of a cluster.' },
  'nodes:drain': { third: 'none', summary: 'Drain servers of a cluster.' },
  'secrets:read': { third: 'none', summary: 'See the health of the secrets stores.' },
  'traces:read': { third: ['sanitized', 'raw'], summary: 'Replay recorded events; raw implies sanitized.' },
  'admin:metrics': { third: ['read'], summary: 'Scrape metrics when they require authentication.' },
} as const satisfies Record<string, ScopeSpec>

export type ScopeName = keyof typeof SCOPES

const SCOPE_ROWS: readonly (readonly [string, ScopeSpec])[] = Object.entries(SCOPES)

/** The resources for which a grant can use `own`. */
export const OWNED_RESOURCES: ReadonlySet<string> = new Set(
  SCOPE_ROWS.filter(([, { owned }]) => owned).map(([name]) => name.slice(0, name.indexOf(':'))),
)

/** The only grant that covers everything; must match exactly. */
export const ADMIN_SCOPE = 'admin:*'

export interface Scope {
  readonly resource: string
  readonly action: string
  readonly id?: string
}

const PART = /^[a-z][a-z0-9-]{0,31}$/
const ID_PART = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/**
 * Splits a scope into its parts; `undefined` when it does not match the grammar. Does not check that the scope exists.
 */
export function parseScope(text: string): Scope | undefined {
  const [resource = '', action = '', id, ...rest] = text.split(':')
  if (rest.length > 0 || !PART.test(resource)) return undefined
  if (action !== '*' && !PART.test(action)) return undefined
  if (id === undefined) return { resource, action }
  if (id !== '*' && !ID_PART.test(id)) return undefined
  return { resource, action, id }
}

/** Whether a token can be granted this scope: known resource and action, and a third part of the right kind. */
export function isGrantable(text: string): boolean {
  if (text === ADMIN_SCOPE) return true
  const scope = parseScope(text)
  if (scope === undefined || (scope.resource === 'admin' && scope.action === '*')) return false
  return SCOPE_ROWS.some(([name, spec]) => isGrantOf(scope, name, spec))
}

function isGrantOf(scope: Scope, name: string, { third, owned }: ScopeSpec): boolean {
  const [resource, action] = name.split(':')
  if (scope.resource !== resource) return false
  if (scope.action !== '*' && scope.action !== action) return false
  if (Array.isArray(third)) return scope.action === action && scope.id !== undefined && third.includes(scope.id)
  if (scope.id === undefined) return true
  if (scope.id === 'own') return owned === true
  return third === 'id'
}
