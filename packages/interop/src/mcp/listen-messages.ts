import type { Frame } from '../projection.ts'
import type { RpcId } from './json-rpc.ts'

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

/** The member of every message that belongs to a subscription. */
export const subscriptionMeta = (subscriptionId: RpcId): object => ({ [SUBSCRIPTION_ID]: subscriptionId })

export const notification = (method: string, params: object, subscriptionId: RpcId): Frame => ({
  data: JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta: subscriptionMeta(subscriptionId) } }),
})
