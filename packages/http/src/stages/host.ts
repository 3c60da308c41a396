import { perdureError } from '@perdure/ports'
import type { CreateStage } from './stage.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Without authentication, checks the Host header: otherwise a page of another site could reach this server through a
 * host name that resolves to the loopback address (DNS rebinding).
 */
export const createHost: CreateStage = ({ config }) => {
  const { authKind, host, allowedHosts } = config
  const allowed = new Set([...LOOPBACK, host, `[${host}]`, ...allowedHosts].map((name) => name.toLowerCase()))

  return ({ head }) => {
    if (authKind !== 'none') return undefined
    const named = head.host.toLowerCase()
    if (allowed.has(named) || allowed.has(named.replace(/:\d+$/, ''))) return undefined
    throw perdureError('host-denied', { hint: 'add the host name to server.allowedHosts' })
  }
}
