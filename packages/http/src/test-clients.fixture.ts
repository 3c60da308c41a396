import type { McpClient, WebhookSender } from '@perdure/ports'

export const noWebhookSender: WebhookSender = { refusalOf: () => undefined, send: async () => ({ error: 'not sent' }) }

/** Every server has one tool, which echoes its arguments. */
export const mcpClient: McpClient = {
  tools: async () => [{ name: 'echo', inputSchema: { type: 'object' } }],
  call: async (_, call) => ({ ok: true, value: call.arguments }),
  status: () => 'disconnected',
  disconnect: async () => undefined,
  close: async () => undefined,
}
