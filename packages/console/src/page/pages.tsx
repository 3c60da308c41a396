import type { ComponentChildren } from 'preact'
import { ApprovalsPage } from './pages/approvals-page.tsx'
import { HomePage } from './pages/home-page.tsx'
import { RunsPage } from './pages/runs-page.tsx'
import { lazyPage } from './parts/lazy-page.tsx'
import type { Route } from './route.ts'

export interface PageSpec {
  /** The first segment of the address. */
  readonly id: string
  readonly label: string
  /** The part of the navigation that has the page. */
  readonly group: PageGroup
  /** The page exists only for sessions with one of these scopes; for every session if empty. */
  readonly scopes: readonly string[]
  /** Scopes that the page needs besides, all of them. */
  readonly alsoNeeds?: readonly string[]
  /** Whether the page only makes changes. */
  readonly isChange?: true
  readonly draw: (route: Route) => ComponentChildren
}

/** The parts of the navigation, from top to bottom. */
export const PAGE_GROUPS = ['Work', 'Data', 'Operation'] as const
export type PageGroup = (typeof PAGE_GROUPS)[number]

const RunPage = lazyPage('Run', async () => (await import('./pages/run-page.tsx')).RunPage)
const StartPage = lazyPage('Start a run', async () => (await import('./pages/start-page.tsx')).StartPage)
const ChatsPage = lazyPage('Chats', async () => (await import('./pages/chats-page.tsx')).ChatsPage)
const LivePage = lazyPage('Live', async () => (await import('./pages/live-page.tsx')).LivePage)
const sessions = () => import('./pages/sessions-page.tsx')
const SessionsPage = lazyPage('Sessions', async () => (await sessions()).SessionsPage)
const SessionPage = lazyPage('Session', async () => (await sessions()).SessionPage)
const workflows = () => import('./pages/workflows-page.tsx')
const WorkflowsPage = lazyPage('Workflows', async () => (await workflows()).WorkflowsPage)
const ThreadPage = lazyPage('Workflow', async () => (await workflows()).ThreadPage)
const triggers = () => import('./pages/triggers-page.tsx')
const TriggersPage = lazyPage('Triggers', async () => (await triggers()).TriggersPage)
const TriggerPage = lazyPage('Trigger', async () => (await triggers()).TriggerPage)
const hooks = () => import('./pages/hooks-page.tsx')
const HooksPage = lazyPage('Hooks', async () => (await hooks()).HooksPage)
const HookPage = lazyPage('Hook', async () => (await hooks()).HookPage)
const HookDeliveryPage = lazyPage('Delivery', async () => (await hooks()).HookDeliveryPage)
const AuditPage = lazyPage('Audit', async () => (await import('./pages/audit-page.tsx')).AuditPage)
const TokensPage = lazyPage('Tokens', async () => (await import('./pages/tokens-page.tsx')).TokensPage)
const EvalsPage = lazyPage('Evals', async () => (await import('./pages/evals-page.tsx')).EvalsPage)
const MemoryPage = lazyPage('Memory', async () => (await import('./pages/memory-page.tsx')).MemoryPage)
const MetricsPage = lazyPage('Metrics', async () => (await import('./pages/metrics-page.tsx')).MetricsPage)
const SystemPage = lazyPage('System', async () => (await import('./pages/system-page.tsx')).SystemPage)
const ApiPage = lazyPage('API', async () => (await import('./pages/api-page.tsx')).ApiPage)

/** Every page, in the order of the navigation. */
export const PAGES: readonly PageSpec[] = [
  { id: '', label: 'Home', group: 'Work', scopes: [], draw: () => <HomePage /> },
  {
    id: 'runs',
    label: 'Runs',
    group: 'Work',
    scopes: ['runs:read', 'agents:read', 'workflows:read'],
    draw: ({ path: [, runId] }) => (runId === undefined ? <RunsPage /> : <RunPage runId={runId} />),
  },
  {
    id: 'start',
    label: 'Start a run',
    group: 'Work',
    scopes: ['agents:invoke', 'workflows:execute'],
    isChange: true,
    draw: ({ path: [, kind, id] }) => <StartPage kind={kind} id={id} />,
  },
  {
    id: 'chats',
    label: 'Chats',
    group: 'Work',
    scopes: ['agents:invoke'],
    // The list of chats needs the one scope; the choice of the agent and the turns need the others.
    alsoNeeds: ['agents:read', 'runs:read'],
    draw: ({ path: [, agentId, open] }) => <ChatsPage agentId={agentId} open={open} />,
  },
  { id: 'approvals', label: 'Approvals', group: 'Work', scopes: ['approvals:read'], draw: () => <ApprovalsPage /> },
  {
    id: 'live',
    label: 'Live',
    group: 'Work',
    scopes: ['agents:read', 'workflows:read', 'approvals:read', 'sessions:read', 'audit:read', 'memory:read'],
    draw: () => <LivePage />,
  },
  {
    id: 'sessions',
    label: 'Sessions',
    group: 'Data',
    scopes: ['sessions:read'],
    draw: ({ path: [, sessionId] }) =>
      sessionId === undefined ? <SessionsPage /> : <SessionPage key={sessionId} sessionId={sessionId} />,
  },
  {
    id: 'workflows',
    label: 'Workflows',
    group: 'Data',
    scopes: ['workflows:read'],
    draw: ({ path: [, workflowId, threadId] }) =>
      workflowId === undefined || threadId === undefined ? (
        <WorkflowsPage />
      ) : (
        <ThreadPage key={threadId} workflowId={workflowId} threadId={threadId} />
      ),
  },
  {
    id: 'triggers',
    label: 'Triggers',
    group: 'Data',
    scopes: ['triggers:read'],
    draw: ({ path: [, triggerId] }) =>
      triggerId === undefined ? <TriggersPage /> : <TriggerPage key={triggerId} triggerId={triggerId} />,
  },
  {
    id: 'hooks',
    label: 'Hooks',
    group: 'Data',
    scopes: ['hooks:read'],
    draw({ path: [, hookId, id] }) {
      if (hookId === undefined) return <HooksPage />
      return id === undefined ? (
        <HookPage key={hookId} hookId={hookId} />
      ) : (
        <HookDeliveryPage key={id} hookId={hookId} id={id} />
      )
    },
  },
  { id: 'evals', label: 'Evals', group: 'Data', scopes: ['runs:read'], draw: () => <EvalsPage /> },
  {
    id: 'memory',
    label: 'Memory',
    group: 'Data',
    scopes: ['memory:read', 'skills:read', 'mcp:read'],
    draw: () => <MemoryPage />,
  },
  { id: 'audit', label: 'Audit', group: 'Operation', scopes: ['audit:read'], draw: () => <AuditPage /> },
  { id: 'tokens', label: 'Tokens', group: 'Operation', scopes: ['tokens:read'], draw: () => <TokensPage /> },
  { id: 'metrics', label: 'Metrics', group: 'Operation', scopes: ['admin:metrics:read'], draw: () => <MetricsPage /> },
  { id: 'system', label: 'System', group: 'Operation', scopes: [], draw: () => <SystemPage /> },
  { id: 'api', label: 'API', group: 'Operation', scopes: [], draw: () => <ApiPage /> },
]
