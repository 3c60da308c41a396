import { PROTOCOLS } from '../protocols/index.ts'
import type { OperationGroup } from './index.ts'

const SUMMARIES: Readonly<Record<OperationGroup, string>> = {
  agents: 'Start registered agents; wait for the outcome, follow the events, or check back later.',
  runs: 'A run is one execution of an agent or a workflow: read its outcome and events, abort it, resume it.',
  approvals: 'Decisions that runs have requested from a human.',
  workflows: 'Durable functions with checkpoints; a thread is a sequence of runs of one workflow.',
  sessions: 'Conversations that group runs and keep a transcript.',
  chats: 'The conversations of users with an agent: list, rename, mark as read, fork, delete.',
  files: 'Attachments of conversations: images, documents and other contents, stored outside the event log.',
  realtime: 'Follow events over a WebSocket; issue the ticket that a web page needs to connect.',
  memory: 'What agents have learned: facts to search, blocks to read whole, and conflicts between facts.',
  consolidator: 'Background maintenance of memory: extract, merge and decay facts.',
  skills: 'Folders with instructions and files that runs can read.',
  mcp: 'Model Context Protocol servers whose tools runs can call.',
  tokens: 'Mint, rotate and revoke the access tokens that decide who may call what.',
  subjects: 'Users of issuers of JWTs and of the program that embeds the server.',
  audit: 'The tamper-evident chain of entries that records who did what.',
  triggers: 'Start runs automatically: on a schedule, at an interval, after a period of inactivity, or on an event.',
  nodes: 'The servers that share a PostgreSQL schema.',
  webhooks: 'Endpoints outside the server that receive signed events, and their deliveries.',
  hooks: 'Addresses at which the server receives signed requests of other services, and what it has received.',
  events: 'Named external events that wake waiting runs and fire triggers.',
  health: 'Health of the server, for probes and for people.',
  metrics: 'Metrics for a Prometheus-compatible scraper.',
  docs: 'Descriptions of this interface, for programs and for people.',
  console: 'Sign a browser in to the web console, and out again.',
}

/** One-sentence description of each group of operations. */
export const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  ...SUMMARIES,
  ...Object.fromEntries(Object.values(PROTOCOLS).map(({ group, summary }) => [group, summary])),
}
