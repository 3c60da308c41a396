import { defineConfig } from 'vite'

// The page sends its requests to its own origin. This server adds the token, which visitors must not see.
// It does so for everybody: before you publish the page, sign your users in and give each one a token of its own.
export default defineConfig({
  server: {
    proxy: {
      // The chats, the messages that wait, and the decisions of the staff.
      '^/v1/(agents/support|runs|approvals|files)': {
        target: process.env.API ?? 'http://127.0.0.1:8080',
        headers: { Authorization: `Bearer ${process.env.TOKEN}` },
        // When Perdure stops, the response to the page breaks as well. Without this line, the page waits for a timeout.
        configure: (proxy) => {
          proxy.on('proxyRes', (from, _request, to) => from.on('error', () => to.destroy()))
        },
      },
    },
  },
})
