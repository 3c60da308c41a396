import { describe, expect, it } from 'vitest'
import type { Operation, ScopeRule } from '../operation.ts'
import { OPERATIONS } from './index.ts'

/** The routes of the contract, written by hand: method, path, `I` if the route honours Idempotency-Key, scope. */
const CONTRACT_ROUTES = `
GET    /agents                                    -  agents:read
GET    /agents/:agentId                           -  agents:read:{agentId}
POST   /agents/:agentId/run                       I  agents:invoke:{agentId}
POST   /agents/:agentId/stream                    I  agents:invoke:{agentId}
GET    /agents/:agentId/state                     -  agents:read:{agentId}
POST   /agents/:agentId/abort                     I  agents:invoke:{agentId}
GET    /runs                                      -  runs:read:{runId}
GET    /runs/:runId                               -  runs:read:{runId} | agents:read:{agentId} | workflows:read:{workflowId}
GET    /runs/:runId/state                         -  runs:read:{runId} | agents:read:{agentId} | workflows:read:{workflowId}
GET    /runs/:runId/events                        -  runs:read:{runId} | agents:read:{agentId} | workflows:read:{workflowId}
GET    /runs/:runId/logs                          -  runs:read:{runId} | agents:read:{agentId} | workflows:read:{workflowId}
POST   /runs/:runId/abort                         I  agents:invoke:{agentId} | workflows:execute:{workflowId}
GET    /runs/:runId/receipt                       -  runs:read:{runId} | agents:read:{agentId} | workflows:read:{workflowId}
PATCH  /runs/:runId                               I  agents:invoke:{agentId} | workflows:execute:{workflowId}
POST   /runs/:runId/withdraw                      I  agents:invoke:{agentId} | workflows:execute:{workflowId}
POST   /runs/:runId/fork                          I  agents:invoke:{agentId} | workflows:execute:{workflowId}
POST   /runs/:runId/retry                         I  agents:invoke:{agentId} | workflows:execute:{workflowId}
POST   /runs/:runId/rerun                         I  agents:invoke:{agentId} | workflows:execute:{workflowId}
POST   /runs/:runId/resume                        I  agents:invoke:{agentId} | workflows:execute:{workflowId}
POST   /runs/:runId/replay                        I  traces:read:sanitized (raw: traces:read:raw)
POST   /runs/:runId/case                          I  runs:read:{runId} | agents:read:{agentId} | workflows:read:{workflowId}
GET    /approvals                                 -  approvals:read:{approvalId}
GET    /approvals/:approvalId                     -  approvals:read:{approvalId}
POST   /approvals/:approvalId/resolve             I  approvals:resolve:{approvalId}
GET    /workflows                                 -  workflows:read
GET    /workflows/:workflowId                     -  workflows:read:{workflowId}
POST   /workflows/:workflowId/execute             I  workflows:execute:{workflowId}
POST   /workflows/:workflowId/resume              I  workflows:resume:{workflowId}
GET    /workflows/:workflowId/state               -  workflows:read:{workflowId}
GET    /workflows/:workflowId/checkpoints         -  workflows:read:{workflowId}
POST   /workflows/:workflowId/fork                I  workflows:execute:{workflowId}
DELETE /workflows/:workflowId/threads/:threadId   I  workflows:delete:{workflowId}
GET    /sessions                                  -  sessions:read:{sessionId}
POST   /sessions                                  I  sessions:write
GET    /sessions/:sessionId                       -  sessions:read:{sessionId}
PATCH  /sessions/:sessionId                       I  sessions:write:{sessionId}
DELETE /sessions/:sessionId                       I  sessions:write:{sessionId}
GET    /sessions/:sessionId/messages              -  sessions:read:{sessionId}
GET    /sessions/:sessionId/queue                 -  sessions:read:{sessionId}
GET    /sessions/:sessionId/runs                  -  sessions:read:{sessionId}
POST   /sessions/:sessionId/export                I  sessions:export:{sessionId}
GET    /sessions/:sessionId/events                -  sessions:read:{sessionId}
POST   /sessions/:sessionId/replay                I  traces:read:sanitized (raw: traces:read:raw)
GET    /agents/:agentId/chats                     -  agents:invoke:{agentId}
GET    /agents/:agentId/chats/:chatId             -  agents:invoke:{agentId}
PATCH  /agents/:agentId/chats/:chatId             I  agents:invoke:{agentId}
DELETE /agents/:agentId/chats/:chatId             I  agents:invoke:{agentId}
POST   /agents/:agentId/chats/:chatId/fork        I  agents:invoke:{agentId}
GET    /files                                     -  files:read:{fileId}
POST   /files                                     I  files:write
GET    /files/:fileId                             -  files:read:{fileId}
GET    /files/:fileId/metadata                    -  files:read:{fileId}
DELETE /files/:fileId                             I  files:write:{fileId}
POST   /session/ws-ticket                         I  any principal
GET    /ws                                        -  any principal
POST   /memory/search                             -  memory:read
GET    /memory/facts                              -  memory:read:{factId}
POST   /memory/facts                              I  memory:write
GET    /memory/facts/:factId                      -  memory:read:{factId}
PATCH  /memory/facts/:factId                      I  memory:write:{factId}
DELETE /memory/facts/:factId                      I  memory:write:{factId}
GET    /memory/blocks                             -  memory:read
PUT    /memory/blocks/:label                      I  memory:write
DELETE /memory/blocks/:label                      I  memory:write
GET    /memory/conflicts                          -  memory:read
POST   /memory/conflicts/:conflictId/resolve      I  memory:write
GET    /consolidator                              -  consolidator:read
POST   /consolidator/run                          I  consolidator:write
GET    /consolidator/dead-letters                 -  consolidator:read
POST   /consolidator/dead-letters/:deadLetterId/retry  I  consolidator:write
GET    /skills                                    -  skills:read
GET    /skills/:skillName                         -  skills:read:{skillName}
POST   /skills/install                            I  skills:install
DELETE /skills/:skillName                         I  skills:install:{skillName}
GET    /mcp/servers                               -  mcp:read
POST   /mcp/servers                               I  mcp:write
DELETE /mcp/servers/:serverId                     I  mcp:write:{serverId}
GET    /mcp/servers/:serverId/tools               -  mcp:read:{serverId}
POST   /mcp/servers/:serverId/tools/:toolName/call  I  mcp:call:{serverId}
GET    /tokens                                    -  tokens:read
GET    /tokens/self                               -  any principal
GET    /tokens/:tokenId                           -  tokens:read:{tokenId}
POST   /tokens                                    I  tokens:create | tokens:mint:sessions
POST   /tokens/:tokenId/rotate                    I  tokens:revoke:{tokenId}
DELETE /tokens/:tokenId                           I  tokens:revoke:{tokenId}
GET    /subjects/:subject/usage                   -  any principal
POST   /subjects/:subject/export                  I  subjects:export
DELETE /subjects/:subject                         I  subjects:delete
POST   /subjects/:subject/revoke                  I  tokens:revoke
GET    /audit                                     -  audit:read
GET    /audit/export                              -  audit:export
POST   /audit/verify                              -  audit:verify
GET    /triggers                                  -  triggers:read
POST   /triggers                                  I  triggers:write
POST   /triggers/prune                            I  triggers:write
GET    /triggers/:triggerId                       -  triggers:read:{triggerId}
DELETE /triggers/:triggerId                       I  triggers:write:{triggerId}
POST   /triggers/:triggerId/fire                  I  triggers:fire:{triggerId}
POST   /triggers/:triggerId/disable               I  triggers:write:{triggerId}
POST   /triggers/:triggerId/enable                I  triggers:write:{triggerId}
GET    /triggers/:triggerId/next                  -  triggers:read:{triggerId}
GET    /triggers/:triggerId/fires                 -  triggers:read:{triggerId}
GET    /webhooks                                  -  webhooks:read
POST   /webhooks                                  I  webhooks:write
GET    /webhooks/:webhookId                       -  webhooks:read:{webhookId}
PATCH  /webhooks/:webhookId                       I  webhooks:write:{webhookId}
DELETE /webhooks/:webhookId                       I  webhooks:write:{webhookId}
POST   /webhooks/:webhookId/enable                I  webhooks:write:{webhookId}
POST   /webhooks/:webhookId/disable               I  webhooks:write:{webhookId}
POST   /webhooks/:webhookId/rotate                I  webhooks:write:{webhookId}
POST   /webhooks/:webhookId/test                  I  webhooks:write:{webhookId}
GET    /webhooks/:webhookId/deliveries            -  webhooks:read:{webhookId}
GET    /webhooks/:webhookId/deliveries/:deliveryId  -  webhooks:read:{webhookId}
POST   /webhooks/:webhookId/deliveries/:deliveryId/redeliver  I  webhooks:write:{webhookId}
GET    /hooks                                     -  hooks:read
POST   /hooks/:hookId                             -  public
GET    /hooks/:hookId                             -  hooks:read:{hookId}
POST   /hooks/:hookId/test                        I  hooks:write:{hookId}
GET    /hooks/:hookId/deliveries                  -  hooks:read:{hookId}
GET    /hooks/:hookId/deliveries/:hookDeliveryId  -  hooks:read:{hookId}
POST   /hooks/:hookId/deliveries/:hookDeliveryId/replay  I  hooks:write:{hookId}
POST   /events/:name                              I  events:emit:{name}
GET    /health                                    -  public
GET    /health/live                               -  public
GET    /health/ready                              -  public
GET    /health/secrets                            -  secrets:read
GET    /nodes                                     -  nodes:read
POST   /nodes/:nodeId/drain                       I  nodes:drain
GET    /metrics                                   -  admin:metrics:read (when metrics.requireAuth)
GET    /openapi.json                              -  public
GET    /asyncapi.json                             -  public
GET    /docs                                      -  public
POST   /console/codes                             I  any principal
POST   /console/session                           -  public
GET    /console/session                           -  any principal
DELETE /console/session                           -  any principal
GET    /console/system                            -  config:read
GET    /console/metrics                           -  admin:metrics:read
POST   /agents/:agentId/chat                      I  agents:invoke:{agentId}
GET    /agents/:agentId/chat                      -  agents:invoke:{agentId}
GET    /agents/:agentId/chat/:chatId/stream       -  agents:invoke:{agentId}
GET    /agents/:agentId/chat/:chatId/messages     -  agents:invoke:{agentId}
GET    /agents/:agentId/chat/:chatId/queue        -  agents:invoke:{agentId}
POST   /agents/:agentId/chat/:chatId/stop         I  agents:invoke:{agentId}
POST   /agents/:agentId/ag-ui                     I  agents:invoke:{agentId}
GET    /agents/:agentId/ag-ui                     -  agents:invoke:{agentId}
GET    /agents/:agentId/ag-ui/capabilities        -  agents:invoke:{agentId}
GET    /agents/:agentId/ag-ui/:runId              -  agents:invoke:{agentId}
GET    /openai/models                             -  any principal
GET    /openai/models/:model                      -  any principal
POST   /openai/chat/completions                   I  agents:invoke:{agentId} | workflows:execute:{workflowId} (of body.model)
POST   /openai/responses                          I  agents:invoke:{agentId} | workflows:execute:{workflowId} (of body.model)
GET    /openai/responses/:responseId              -  agents:invoke:{agentId} | workflows:execute:{workflowId}
POST   /openai/responses/:responseId/cancel       I  agents:invoke:{agentId} | workflows:execute:{workflowId}
GET    /openai/responses/:responseId/input_items  -  agents:invoke:{agentId} | workflows:execute:{workflowId}
POST   /openai/conversations                      I  sessions:write
GET    /openai/conversations/:conversationId      -  sessions:read:{conversationId}
POST   /openai/conversations/:conversationId      I  sessions:write:{conversationId}
DELETE /openai/conversations/:conversationId      I  sessions:write:{conversationId}
GET    /openai/conversations/:conversationId/items  -  sessions:read:{conversationId}
POST   /mcp                                       -  any principal
GET    /mcp                                       -  any principal
POST   /mcp/agents/:agentId                       -  agents:invoke:{agentId}
GET    /mcp/agents/:agentId                       -  agents:invoke:{agentId}
`

const describeScope = (scope: ScopeRule): string => {
  if (scope === null) return 'public'
  if (scope === 'principal') return 'any principal'
  if (typeof scope === 'string') return scope
  if ('anyOf' in scope) return scope.anyOf.join(' | ')
  return 'whenConfig' in scope ? `${scope.scope} (when ${scope.whenConfig})` : `${scope.scope} (raw: ${scope.rawScope})`
}

const describeRoute = ({ method, path, idempotent, scope, targetFrom }: Operation) =>
  `${method} ${path} ${idempotent ? 'I' : '-'} ${describeScope(scope)}${targetFrom === undefined ? '' : ` (of body.${targetFrom})`}`

describe('OPERATIONS', () => {
  it('lists exactly the routes of the contract, with their idempotency and scopes', () => {
    const expected = CONTRACT_ROUTES.trim()
      .split('\n')
      .map((line) => line.replace(/\s+/g, ' '))

    expect(OPERATIONS.map(describeRoute)).toEqual(expected)
  })

  it('marks only the operation that forks a workflow as refused', () => {
    expect(OPERATIONS.filter(({ refused }) => refused).map(({ id }) => id)).toEqual(['workflows.fork'])
  })
})
