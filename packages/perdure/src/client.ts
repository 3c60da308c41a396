export * from '@perdure/client'
