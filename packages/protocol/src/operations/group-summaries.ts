import type { OperationGroup } from './index.ts'

/** What the operations of each group are about. */
export const GROUP_SUMMARIES: Readonly<Record<OperationGroup, string>> = {
  agents: 'Start registered agents and wait for what they come to, follow them, or come back later.',
  runs: 'One execution of an agent or a workflow: its outcome, its log of events, its abort, its resume.',
  approvals: 'What runs have asked a human, and the decisions.',
  workflows: 'Durable functions with checkpoints; a thread is a line of runs of one workflow.',
  sessions: 'Conversations: they group runs and keep their transcript.',
  realtime: 'Following events over a WebSocket, and the tickets that let a page open one.',
  memory: 'What agents have learned: facts that are searched, blocks that are read whole, conflicts between facts.',
  consolidator: 'The upkeep of memory in the background: extracting, merging and fading facts.',
  skills: 'Folders with instructions and files that runs may read.',
  mcp: 'Servers of the Model Context Protocol whose tools runs may call.',
  tokens: 'Who may call what: minting, rotating and revoking access tokens.',
  audit: 'The chain of entries that tells who did what; nobody changes it unseen.',
  triggers: 'Runs that start by themselves: at a time, at an interval, after silence, at an event.',
  events: 'Named events from outside: they wake runs that wait and fire triggers.',
  health: 'How the server is, for probes and for people.',
  metrics: 'What a Prometheus-compatible scraper reads.',
  docs: 'This interface, described for programs and for people.',
}
