// Keyed runs with DBOS Transact: the key is the id of the workflow, which returns its input. FLOOR_DBOS is a folder in
// which @dbos-inc/dbos-sdk is installed; FLOOR_DATABASE_URL is the URL of the database.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { announce } from './announce.mjs'

const { DBOS } = createRequire(join(process.env.FLOOR_DBOS, 'package.json'))('@dbos-inc/dbos-sdk')

DBOS.setConfig({
  name: 'floor',
  systemDatabaseUrl: process.env.FLOOR_DATABASE_URL,
  runAdminServer: false,
  logLevel: 'error',
})
const echo = DBOS.registerWorkflow(async (input) => input, { name: 'echo' })
await DBOS.launch()

const app = new Hono()
app.post('/', async (c) => {
  const { input } = await c.req.json()
  const key = c.req.header('idempotency-key') ?? randomUUID()
  const handle = await DBOS.startWorkflow(echo, { workflowID: key })(input)
  return c.json({ runId: key, status: 'completed', result: await handle.getResult() })
})
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', createServer }, () => announce(server))
process.on('SIGTERM', () => process.exit(0))
