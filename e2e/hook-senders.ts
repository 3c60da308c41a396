import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { HookPlatform } from '../packages/protocol/src/config/hooks.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** A secret that every platform accepts. */
export const HOOK_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

interface SignedRequest {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** A platform as the receiver sees it. */
export interface HookSender {
  /** How long the platform waits before each retry. After the last one, it gives up. */
  readonly waitsMs: readonly number[]
  /** An attempt at this time to deliver the order. Each attempt has the same delivery id and a signature of its own. */
  attempt(order: string, atMs: number): SignedRequest
}

const hmacOf = (text: string, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', HOOK_SECRET).update(text).digest(encoding)

const secondsOf = (atMs: number): string => String(Math.floor(atMs / SECOND_MS))

/** The platforms, with the schedules that they document. */
export const HOOK_SENDERS: Readonly<Record<HookPlatform, HookSender>> = {
  'standard-webhooks': {
    waitsMs: [
      ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
      ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
    ],
    attempt(order, atMs) {
      const [id, body] = [`msg_${order}`, JSON.stringify({ order })]
      const signature = new Webhook(HOOK_SECRET).sign(id, new Date(atMs), body)
      const headers = { 'webhook-id': id, 'webhook-timestamp': secondsOf(atMs), 'webhook-signature': signature }
      return { body, headers }
    },
  },
  /** GitHub never repeats a delivery by itself. Its owner can do so, within three days. */
  github: {
    waitsMs: [10 * MINUTE_MS, 2 * HOUR_MS, 24 * HOUR_MS],
    attempt(order) {
      const body = JSON.stringify({ order })
      return {
        body,
        headers: { 'x-github-delivery': `guid-${order}`, 'x-hub-signature-256': `sha256=${hmacOf(body, 'hex')}` },
      }
    },
  },
  /** Stripe documents only that it retries for three days, with longer and longer waits. */
  stripe: {
    waitsMs: [1, 2, 4, 8, 16, 32].map((hours) => hours * HOUR_MS),
    attempt(order, atMs) {
      const [t, body] = [secondsOf(atMs), JSON.stringify({ id: `evt_${order}`, object: 'event', order })]
      return { body, headers: { 'stripe-signature': `t=${t},v1=${hmacOf(`${t}.${body}`, 'hex')}` } }
    },
  },
  slack: {
    waitsMs: [SECOND_MS, MINUTE_MS, 5 * MINUTE_MS],
    attempt(order, atMs) {
      const [t, body] = [secondsOf(atMs), JSON.stringify({ type: 'event_callback', event_id: `Ev${order}`, order })]
      const signature = `v0=${hmacOf(`v0:${t}:${body}`, 'hex')}`
      return { body, headers: { 'x-slack-request-timestamp': t, 'x-slack-signature': signature } }
    },
  },
  linear: {
    waitsMs: [MINUTE_MS, HOUR_MS, 6 * HOUR_MS],
    attempt(order, atMs) {
      const body = JSON.stringify({ action: 'create', webhookTimestamp: Math.floor(atMs), order })
      return { body, headers: { 'linear-delivery': `uuid-${order}`, 'linear-signature': hmacOf(body, 'hex') } }
    },
  },
  /** Shopify retries eight times within four hours. */
  shopify: {
    waitsMs: [10 * SECOND_MS, MINUTE_MS, ...[5, 10, 20, 40, 60, 90].map((minutes) => minutes * MINUTE_MS)],
    attempt(order) {
      const body = JSON.stringify({ order })
      return {
        body,
        headers: { 'x-shopify-webhook-id': `id-${order}`, 'x-shopify-hmac-sha256': hmacOf(body, 'base64') },
      }
    },
  },
}
