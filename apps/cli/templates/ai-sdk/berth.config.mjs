// Configuration and agents of this server. Try it: npm install && npx berth dev
import { assistant } from './agents/assistant.mjs'

/** @type {import('@berth/server-app').BerthConfig} */
export default {
  server: { port: 8080 },
  agents: [assistant],
}
