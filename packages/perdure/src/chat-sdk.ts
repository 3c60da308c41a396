export * from '@perdure/chat-sdk'
