// Configuration and workflows of this server. Try it: npx berth dev
import { refund } from './workflows/refund.mjs'

/** @type {import('@berth/server-app').BerthConfig} */
export default {
  server: { port: 8080 },
  workflows: [refund],
}
