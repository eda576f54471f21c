// Licensed under the Apache License, Version 2.0.

import java.util.Map;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.remoting.RPCHook;

/** What brokers ask for before they answer: TLS, and an account; from release 4.4.0 on. */
class Access {
    /** Encrypts all connections, if that is asked for, and verifies the broker's certificate; before any client is made. */
    static void encrypt() {
        if ("on".equals(System.getenv("ROCKETMQ_TLS"))) {
            System.setProperty("tls.enable", "true");
            System.setProperty("tls.test.mode.enable", "false");
            System.setProperty("tls.client.authServer", "true");
            System.setProperty("tls.client.trustCertPath", System.getenv("ROCKETMQ_TLS_CA"));
        }
    }

    /** Signs every request, if there is an account. */
    static RPCHook signing() {
        Map<String, String> told = System.getenv();
        String account = told.get("ROCKETMQ_ACCESS_KEY");
        return account == null ? null
            : new AclClientRPCHook(new SessionCredentials(account, told.get("ROCKETMQ_SECRET_KEY")));
    }
}
