#!/usr/bin/env node
// Licensed under the Apache License, Version 2.0.

// A push consumer of ali-ons, of a cluster or broadcasting. Environment variables say what it consumes, and SIGTERM
// ends it. Commands on standard input say whether its listener succeeds, fails or holds, which message it holds, and
// whether to start another consumer.
'use strict';

const env = process.env;
// the client keeps the offset files of broadcasting members in the home folder, which it looks up when it is loaded
if (env.ROCKETMQ_OFFSETS) env.HOME = env.ROCKETMQ_OFFSETS;
const { Consumer } = require('ali-ons');
const WHERE = require('ali-ons/lib/consumer/consume_from_where');

const logger = { debug() {}, info() {}, warn: console.error, error: console.error };
const print = line => process.stdout.write(`${JSON.stringify(line)}\n`);

let listener = 'succeeds';
let hung = null; // the place of the message that the listener holds once
let waiting = []; // what goes on at the next command
const consumers = [];

// Say what the listener was given, and return as the commands say.
async function listen(message) {
  const place = [ message.topic, message.queueId, Number(message.queueOffset) ];
  print({ got: [ ...place, message.body.length, message.keys || '' ] });
  const wait = () => new Promise(resolve => waiting.push(resolve));
  if (String(place) === hung) {
    hung = null;
    await wait();
  }
  while (listener === 'holds') await wait();
  return listener === 'fails' ? Consumer.ACTION_RETRY : undefined;
}

function start(nameServer, group, topic, instance) {
  const consumer = new Consumer({
    httpclient: {}, // for an address server, which is not asked
    logger,
    nameSrv: nameServer,
    consumerGroup: group,
    instanceName: instance,
    isBroadcast: env.ROCKETMQ_MODEL === 'BROADCASTING',
    persistent: true,
    consumeFromWhere: WHERE[env.ROCKETMQ_CONSUME_FROM],
    consumeTimestamp: env.ROCKETMQ_CONSUME_TIMESTAMP,
    accessKey: env.ROCKETMQ_ACCESS_KEY,
    secretKey: env.ROCKETMQ_SECRET_KEY,
  });
  consumer.on('error', console.error);
  consumer.subscribe(topic, '*', listen);
  consumers.push(consumer);
}

function obey(command) {
  if (command.listen) {
    listener = command.listen;
    const going = waiting;
    waiting = [];
    going.forEach(resolve => resolve());
  } else if (command.hold) {
    hung = String(command.hold);
  } else if (command.also) {
    start(...command.also);
  }
}

async function shutDown() {
  for (const consumer of consumers) await consumer.close();
  process.exit(0);
}

function main() {
  if (env.ROCKETMQ_KIND !== 'push') return print({ unsupported: 'it is a concurrent push consumer' });
  if (env.ROCKETMQ_TLS === 'on') return print({ unsupported: 'ali-ons has no TLS' });
  print({ takes: [ 'listen', 'hold', 'also' ] });
  start(env.ROCKETMQ_NAME_SERVER, env.ROCKETMQ_GROUP, env.ROCKETMQ_TOPIC, env.ROCKETMQ_INSTANCE);
  process.on('SIGTERM', shutDown);
  require('readline').createInterface({ input: process.stdin }).on('line', line => obey(JSON.parse(line)));
}

main();
