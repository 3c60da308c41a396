// Floor (b): echoes JSON with hono on Node.js.
import { createServer } from 'node:http'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { announce } from './announce.mjs'

const app = new Hono()
app.get('/', (c) => c.json({ ok: true }))
app.post('/', async (c) => c.json(await c.req.json()))
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', createServer }, () => announce(server))
