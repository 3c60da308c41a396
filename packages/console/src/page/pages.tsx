import type { ComponentChildren } from 'preact'
import { ApiPage } from './pages/api-page.tsx'
import { ApprovalsPage } from './pages/approvals-page.tsx'
import { AuditPage } from './pages/audit-page.tsx'
import { HomePage } from './pages/home-page.tsx'
import { LivePage } from './pages/live-page.tsx'
import { MemoryPage } from './pages/memory-page.tsx'
import { MetricsPage } from './pages/metrics-page.tsx'
import { RunPage } from './pages/run-page.tsx'
import { RunsPage } from './pages/runs-page.tsx'
import { SessionPage, SessionsPage } from './pages/sessions-page.tsx'
import { StartPage } from './pages/start-page.tsx'
import { SystemPage } from './pages/system-page.tsx'
import { TokensPage } from './pages/tokens-page.tsx'
import { TriggerPage, TriggersPage } from './pages/triggers-page.tsx'
import { ThreadPage, WorkflowsPage } from './pages/workflows-page.tsx'
import type { Route } from './route.ts'

export interface PageSpec {
  /** The first segment of the address. */
  readonly id: string
  readonly label: string
  /** The page exists only for sessions with one of these scopes; for every session if empty. */
  readonly scopes: readonly string[]
  /** Whether the page only makes changes. */
  readonly isChange?: true
  readonly draw: (route: Route) => ComponentChildren
}

/** Every page, in the order of the navigation. */
export const PAGES: readonly PageSpec[] = [
  { id: '', label: 'Home', scopes: [], draw: () => <HomePage /> },
  {
    id: 'runs',
    label: 'Runs',
    scopes: ['runs:read', 'agents:read', 'workflows:read'],
    draw: ({ path: [, runId] }) => (runId === undefined ? <RunsPage /> : <RunPage runId={runId} />),
  },
  {
    id: 'start',
    label: 'Start a run',
    scopes: ['agents:invoke', 'workflows:execute'],
    isChange: true,
    draw: ({ path: [, kind, id] }) => <StartPage kind={kind} id={id} />,
  },
  { id: 'approvals', label: 'Approvals', scopes: ['approvals:read'], draw: () => <ApprovalsPage /> },
  {
    id: 'live',
    label: 'Live',
    scopes: ['agents:read', 'workflows:read', 'approvals:read', 'sessions:read', 'audit:read', 'memory:read'],
    draw: () => <LivePage />,
  },
  {
    id: 'sessions',
    label: 'Sessions',
    scopes: ['sessions:read'],
    draw: ({ path: [, sessionId] }) =>
      sessionId === undefined ? <SessionsPage /> : <SessionPage key={sessionId} sessionId={sessionId} />,
  },
  {
    id: 'workflows',
    label: 'Workflows',
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
    scopes: ['triggers:read'],
    draw: ({ path: [, triggerId] }) =>
      triggerId === undefined ? <TriggersPage /> : <TriggerPage key={triggerId} triggerId={triggerId} />,
  },
  { id: 'audit', label: 'Audit', scopes: ['audit:read'], draw: () => <AuditPage /> },
  { id: 'tokens', label: 'Tokens', scopes: ['tokens:read'], draw: () => <TokensPage /> },
  { id: 'memory', label: 'Memory', scopes: ['memory:read', 'skills:read', 'mcp:read'], draw: () => <MemoryPage /> },
  { id: 'metrics', label: 'Metrics', scopes: ['admin:metrics:read'], draw: () => <MetricsPage /> },
  { id: 'system', label: 'System', scopes: [], draw: () => <SystemPage /> },
  { id: 'api', label: 'API', scopes: [], draw: () => <ApiPage /> },
]
