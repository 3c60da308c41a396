// Configuration and agents of this server. Try it: npx berth dev
import { echo } from './agents/echo.mjs'

/** @type {import('@berth/server-app').BerthConfig} */
export default {
  server: { port: 8080 },
  agents: [echo],
}
